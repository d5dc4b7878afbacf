import type { z } from 'zod';
import type { Effect } from '../call/call.ts';
import type { ExecutionContext } from '../call/execution-context.ts';
import { messageOf, ToolError } from '../error.ts';
import type { BlobStore } from '../ports.ts';
import type { MaybePromise, Metadata, Result } from '../result.ts';
import type { Commands } from '../world/commands.ts';
import type { Stages } from '../world/stage.ts';
import type { Web } from '../world/web.ts';
import type { Files, Search } from '../world/workspace.ts';
import type { Access, DataOrigin } from './access.ts';
import { ToolCategory } from './category.ts';
import type { InputSchema, JsonSchema, ParameterAliases } from './input-schema.ts';
import type { KeptChanges } from './kept-changes.ts';
import type { OwnReason, Plan, PlanResult } from './plan.ts';
import type { ToolResult } from './tool-result.ts';
import type { ViewBlock } from './view.ts';
import { zodInput, zodToJson } from './zod-input.ts';

/**
 * `commands`: the words of a command line. `code`: the same for shell code, which only a rule for the whole tool allows.
 * `paths`: files of the workspace. `hosts`: `domain:` and a host. `none`: its rules have no pattern.
 */
export type RulePatterns = 'commands' | 'code' | 'paths' | 'hosts' | 'none';

/** The changes that a tool makes to the files that rules about it name. */
export type FileChangeKind = 'writes' | 'deletes' | 'both';

export interface ToolFlow {
  /** The origin of its results. Files and output of commands are private without it, and text from the web is untrusted. */
  readonly brings?: readonly DataOrigin[];
  /** Whether it can send data out. Left out: as its access says, and a tool of unknown access can. */
  readonly sends?: boolean;
}

/** Everything a running tool gets: the context of its call, and its only access to the world. */
export interface ToolContext extends Readonly<ExecutionContext> {
  readonly callId: string;
  /** Aborts on timeout and cancellation. Created on first use, so a tool that does not use it pays nothing. */
  readonly signal: AbortSignal;
  /** The access that policy granted to this call. Empty until it was judged. */
  readonly granted: readonly Access[];
  /** Full outputs that were truncated, by handle. */
  readonly artifacts: BlobStore;
  /** The workspace. Without one, every answer is NOT_CONFIGURED. */
  readonly files: Files;
  readonly search: Search;
  readonly commands: Commands;
  /** Pending changes of commands. */
  readonly stages: Stages;
  readonly web: Web;
  /** Tells listeners how far the call is. Ignored once the call has ended. */
  progress(update: { message?: string; percent?: number; output?: string }): void;
  /**
   * Decides about the pending changes of a stage: policy judges them, and a person is asked where it says so. While the
   * question is open this call's timeout stands still, and it holds up no other call. Changes that are not kept are
   * discarded, except after a conflict: then they stay pending.
   */
  keep(stageId: string): Promise<KeptChanges>;
  /**
   * Repeats this call on the real files, where nothing stages and its command was refused a write: a person is asked first.
   * The result is that of the repeated call; null in a call that is already one.
   */
  runLive(): Promise<ToolResult | null>;
}

/**
 * The definition of a tool: its arguments, the access it needs, its work, and the text for the model. It knows nothing
 * of permissions, approval, truncation, logging, aborting or storage. Methods, not function
 * properties, so that a Tool of particular types fits a list of any. `P` is the type of its plan, if it makes one.
 */
export interface Tool<I = unknown, O = unknown, P = I> {
  readonly name: string;
  readonly description: string;
  readonly category: ToolCategory;
  readonly effect: Effect;
  /** Identifies its definition where that can change between calls; part of the approval digest. */
  readonly version?: string;
  /** `runtime`: the tool is in no list, and only the runtime calls it, inside another call. */
  readonly madeBy?: 'runtime';
  readonly input: InputSchema<I>;
  /** The meaning of patterns in rules about it: `bash(npm test *)`, `read_file(docs/**)`. Left out: it depends. */
  readonly patterns?: RulePatterns;
  /**
   * It changes files, so that rules about its paths hold for such changes by every tool and command. `writes`: an allow rule
   * does not cover deletions; `deletes`: its rules hold only for deletions. Left out: its rules are about its own calls.
   */
  readonly changesFiles?: FileChangeKind;
  /** It reads files by their paths, so that a path that a rule denies it is read in no other way either. */
  readonly readsFiles?: true;
  /** The data that it brings in and sends out beside what its access says. */
  readonly flow?: ToolFlow;
  /** The schema of `value`, for programs. */
  readonly outputJson?: JsonSchema;
  /** One line for a person, also shown by a dry run: "Read src/a.ts". */
  summary(input: I): string;
  /**
   * Works out what the call would do; must change nothing. A call that cannot work fails here, before anybody is asked.
   * `access`, `approval` and `preview` then come from the plan.
   */
  plan?(input: I, ctx: ToolContext): MaybePromise<PlanResult<P>>;
  /** The access this call needs. Left out: unknown, so it needs approval, runs alone and never twice. */
  access?(input: I, ctx: ToolContext): MaybePromise<readonly Access[]>;
  /** A reason why a person must approve, whatever the access. A user's rule may lift it, unless it is `always`. */
  approval?(input: I, ctx: ToolContext): MaybePromise<OwnReason | undefined>;
  /**
   * It ends soon once its signal aborts, and its result tells how far it came: a call that is cancelled waits for that result,
   * at most 10 s. Left out: a cancelled call ends at once, and its result is lost.
   */
  readonly endsOnAbort?: true;
  /** Seconds the run may take, where the context's timeout does not fit. */
  seconds?(input: I, ctx: ToolContext): number;
  /** Describes what would happen, for a person who approves and for a dry run. Must change nothing. */
  preview?(input: I, ctx: ToolContext): MaybePromise<string>;
  /**
   * Finds out the effect of the call for a dry run, by doing it where nothing is kept. Only called where policy allows the
   * call without a question, or asks about nothing but the network, effects outside, the background or the tool's own reason: it must use no
   * network. Left out: a dry run shows the preview.
   */
  rehearse?(input: I, ctx: ToolContext): MaybePromise<Result<Rehearsal>>;
  /** Gets its plan, or the input if it makes none. Returns `ok(value)` or `fail(…)`. A throw is a bug and is reported as one. */
  run(planned: P, ctx: ToolContext): MaybePromise<Result<O>>;
  /** The text of a value for the model. Left out: a string as it is, anything else as JSON. */
  render?(value: O): string;
  /** The view of a value for a person. Left out: the text for the model. */
  view?(value: O): readonly ViewBlock[];
  /** Parts of a value that are not text, for models that can see or hear. */
  attachments?(value: O, metadata: Metadata): readonly Attachment[];
}

/** The effect of a call that was tried out. The runtime shows the changes of the stage and discards them. */
export interface Rehearsal {
  readonly text: string;
  /** The stage with its changes; null when there are none. */
  readonly stage: string | null;
}

/** `data` is base64. A resource has text or data, or only a name. A file is in the workspace, written by a call. */
export type Attachment =
  | { readonly kind: 'image' | 'audio'; readonly mimeType: string; readonly data: string }
  | {
      readonly kind: 'resource';
      readonly uri: string;
      readonly mimeType?: string;
      readonly text?: string;
      readonly data?: string;
    }
  | { readonly kind: 'file'; readonly path: string };

/** Anything that can become a Tool, such as a BaseTool. */
export interface ToolSource {
  toTool(): Tool;
}

type ToolDefinition<I extends z.ZodType, O extends z.ZodType, P> = {
  name: string;
  description: string;
  category?: ToolCategory;
  effect?: Effect;
  input: I;
  output?: O;
  /** Other names a model may use for a parameter. */
  aliases?: ParameterAliases;
  summary?(input: z.output<I>): string;
  /** With it, `run` gets the plan instead of the input. */
  plan?(input: z.output<I>, ctx: ToolContext): MaybePromise<PlanResult<P & Plan>>;
  run(planned: P, ctx: ToolContext): MaybePromise<Result<z.input<O>>>;
  render?(value: z.input<O>): string;
  view?(value: z.input<O>): readonly ViewBlock[];
  attachments?(value: z.input<O>, metadata: Metadata): readonly Attachment[];
} & Pick<
  Tool<z.output<I>>,
  | 'access'
  | 'approval'
  | 'preview'
  | 'rehearse'
  | 'seconds'
  | 'patterns'
  | 'version'
  | 'madeBy'
  | 'changesFiles'
  | 'endsOnAbort'
  | 'readsFiles'
  | 'flow'
>;

/**
 * Set in the build of the command line, whose tools are all our own: tests show that their schemas can be offered to a
 * model. Converting all of them would take a tenth of the time of a short command, so each is converted at first use.
 */
declare const TOOLWRIGHT_SCHEMAS_TESTED: boolean | undefined;
const schemasAreTested = typeof TOOLWRIGHT_SCHEMAS_TESTED !== 'undefined' && TOOLWRIGHT_SCHEMAS_TESTED;

/** Makes a tool from an object. Throws when the definition cannot work: such a bug should be seen at start. */
export function defineTool<I extends z.ZodType, O extends z.ZodType = z.ZodUnknown, P = z.output<I>>(
  definition: ToolDefinition<I, O, P>,
): Tool<z.output<I>, z.input<O>, P> {
  const { name, description, category, effect, input, output, aliases, summary, ...behaviour } = definition;
  const toInput = () => convert(name, 'input', () => zodInput(input, aliases));
  const tool = namedTool({
    ...behaviour,
    name,
    description,
    category: category ?? ToolCategory.OTHER,
    effect: effect ?? 'once',
    input: schemasAreTested ? whenUsed(toInput) : toInput(),
    summary: summary ?? (() => name),
  });
  if (output === undefined) return tool;
  const toOutput = () => convert(name, 'output', () => zodToJson(output, 'output'));
  const outputJson = schemasAreTested ? { get: once(toOutput) } : { value: toOutput() };
  return Object.defineProperty(tool, 'outputJson', { ...outputJson, enumerable: true });
}

function whenUsed<T>(make: () => InputSchema<T>): InputSchema<T> {
  const own = once(make);
  return {
    get json() {
      return own().json;
    },
    check: (args) => own().check(args),
    shownAs: (names) => own().shownAs(names),
  };
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/** Checks the name and description that every tool must have. */
export function namedTool<T extends { name: string; description: string }>(tool: T): T {
  const { name, description } = tool;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    const rule = 'a tool name has 1 to 64 letters, digits, _ or -, as every model API demands.';
    throw new ToolError(String(name), `'${String(name)}' cannot be a tool name: ${rule}`, { code: 'INVALID_INPUT' });
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new ToolError(name, 'it needs a description: a model chooses tools by it.', { code: 'INVALID_INPUT' });
  }
  return tool;
}

export function convert<T>(name: string, which: 'input' | 'output', build: () => T): T {
  try {
    return build();
  } catch (error) {
    const why = `its ${which} schema cannot be offered to a model: ${messageOf(error)}`;
    throw new ToolError(name, why, { code: 'INVALID_INPUT', cause: error });
  }
}
