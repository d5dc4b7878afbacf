import type { z } from 'zod';
import type { Access } from './access.ts';
import type { Effect } from '../call/call.ts';
import { ToolCategory } from './category.ts';
import type { Commands } from '../world/commands.ts';
import { messageOf, ToolError } from '../error.ts';
import type { ExecutionContext } from '../call/execution-context.ts';
import type { InputSchema, JsonSchema, ParameterAliases } from './input-schema.ts';
import type { BlobStore } from '../ports.ts';
import type { MaybePromise, Metadata, Result } from '../result.ts';
import type { Draft, ViewBlock } from './view.ts';
import type { Web } from '../world/web.ts';
import type { Files, Search } from '../world/workspace.ts';
import { zodInput, zodToJson } from './zod-input.ts';

/**
 * `commands`: the words of a command line. `code`: the same for shell code, which only a rule for the whole tool allows.
 * `paths`: files of the workspace. `hosts`: `domain:` and a host. `none`: its rules have no pattern.
 */
export type RulePatterns = 'commands' | 'code' | 'paths' | 'hosts' | 'none';

/** What a running tool has: the context it was called with, and its only ways to the world. */
export interface ToolContext extends Readonly<ExecutionContext> {
  readonly callId: string;
  /** Aborts on timeout and cancellation. Made on first use, so a tool that never looks pays nothing. */
  readonly signal: AbortSignal;
  /** What this call may touch, as policy granted it. Empty until it was judged. */
  readonly granted: readonly Access[];
  /** What truncation kept, by handle. */
  readonly artifacts: BlobStore;
  /** The workspace. Without one, every answer is NOT_CONFIGURED. */
  readonly files: Files;
  readonly search: Search;
  readonly commands: Commands;
  readonly web: Web;
  /** Tells listeners how far the call is. Ignored once the call has ended. */
  progress(update: { message?: string; percent?: number; output?: string }): void;
}

/**
 * Everything there is to know about a tool. It knows nothing of permissions, approval, truncation, logging, aborting
 * or storage: it says what it takes, what it touches, what it does, and what the model reads. Methods, not function
 * properties, so that a Tool of particular types fits a list of any.
 */
export interface Tool<I = unknown, O = unknown> {
  readonly name: string;
  readonly description: string;
  readonly category: ToolCategory;
  readonly effect: Effect;
  /** What identifies its definition where that can change between calls: part of what a yes is bound to. */
  readonly version?: string;
  readonly input: InputSchema<I>;
  /** What the pattern of a rule about it means: `bash(npm test *)`, `read_file(docs/**)`. Left out: it depends. */
  readonly patterns?: RulePatterns;
  /** What `value` looks like to programs. */
  readonly outputJson?: JsonSchema;
  /** One line for a person, also shown by a dry run: «Read src/a.ts». */
  summary(input: I): string;
  /** What this call touches. Left out: unknown, so it asks, runs alone and never twice. */
  access?(input: I, ctx: ToolContext): MaybePromise<readonly Access[]>;
  /** A reason why a person must say yes, whatever the access. A user's rule may lift it, unless it says `always`. */
  approval?(input: I, ctx: ToolContext): MaybePromise<OwnReason | undefined>;
  /** Seconds its run may take, where the context's timeout is not the answer. */
  seconds?(input: I, ctx: ToolContext): number;
  /** What would happen, in words, for a dry run. Must change nothing. */
  preview?(input: I, ctx: ToolContext): MaybePromise<string>;
  /** The text file it would leave, where that is one a person may edit before saying yes. Must change nothing. */
  draft?(input: I, ctx: ToolContext): MaybePromise<Draft | undefined>;
  /** Returns `ok(value)` or `fail(…)`. A throw is a bug and is reported as one. */
  run(input: I, ctx: ToolContext): MaybePromise<Result<O>>;
  /** What the model reads of a value. Left out: a string as it is, the rest as JSON. */
  render?(value: O): string;
  /** What a person sees of a value. Left out: what the model reads. */
  view?(value: O): readonly ViewBlock[];
  /** What of a value is no text, for doors whose models can see or hear. */
  attachments?(value: O, metadata: Metadata): readonly Attachment[];
}

/** `data` is base64. A resource has a text or data, or is only named. A file is one of the workspace that a call left. */
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

export type OwnReason = string | { readonly reason: string; readonly always: true };

/** Anything that can become a Tool, such as a BaseTool. */
export interface ToolSource {
  toTool(): Tool;
}

type Definition<I extends z.ZodType, O extends z.ZodType> = {
  name: string;
  description: string;
  category?: ToolCategory;
  effect?: Effect;
  input: I;
  output?: O;
  /** Other names a model may use for a parameter. */
  aliases?: ParameterAliases;
  summary?(input: z.output<I>): string;
  run(input: z.output<I>, ctx: ToolContext): MaybePromise<Result<z.input<O>>>;
  render?(value: z.input<O>): string;
  view?(value: z.input<O>): readonly ViewBlock[];
  attachments?(value: z.input<O>, metadata: Metadata): readonly Attachment[];
} & Pick<
  Tool<z.output<I>, z.input<O>>,
  'access' | 'approval' | 'preview' | 'draft' | 'seconds' | 'patterns' | 'version'
>;

/**
 * Tests have seen that the schemas of our own tools can be offered to a model, and the command line has no others made
 * this way. To convert them all would be a tenth of the time of a short command, so its build converts what it uses.
 */
declare const TOOLWRIGHT_SCHEMAS_TESTED: boolean | undefined;
const schemasAreTested = typeof TOOLWRIGHT_SCHEMAS_TESTED !== 'undefined' && TOOLWRIGHT_SCHEMAS_TESTED;

/** The object way to write a tool. Throws when the definition could not work: that is a bug to see at start. */
export function defineTool<I extends z.ZodType, O extends z.ZodType = z.ZodUnknown>(
  definition: Definition<I, O>,
): Tool<z.output<I>, z.input<O>> {
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

/** Checks what every tool must have, however it was written. */
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
