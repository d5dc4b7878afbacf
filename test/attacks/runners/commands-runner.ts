import { readdirSync } from 'node:fs';
import { ExecutionContext } from '../../../src/kernel/call/execution-context.ts';
import { type ErrorCode, knownCode } from '../../../src/kernel/error.ts';
import type { Subject } from '../../../src/kernel/ports.ts';
import { KEEPING_TOOL, type KeptChanges } from '../../../src/kernel/tool/kept-changes.ts';
import type { ToolResult } from '../../../src/kernel/tool/tool-result.ts';
import { createFilePolicy } from '../../../src/kernel/world/file-policy.ts';
import type { ClassifiedChange } from '../../../src/kernel/world/stage.ts';
import { MODES } from '../../../src/policy/mode.ts';
import { bash } from '../../../src/tools/shell/bash.ts';
import type { Attack, Observation, OutcomeName } from '../attack.ts';
import { type CommandWorld, openCommandWorld, policyFor } from '../command-world.ts';
import type { Fixture } from '../fixture.ts';
import { observe, type Runner } from '../harness.ts';
import { COMMAND_TEXTS, DECISION_TEXTS } from './commands-texts.ts';

/** `bash`, and what of `run_code` needs more than the sandbox: through the executor, as a model would call it. */
export const commandsRunner: Runner = { kind: 'execute', run: runCommand, texts: COMMAND_TEXTS };

/** Judges commands that must never run, in every mode; there is no sandbox here that could run them. */
export const decisionRunner: Runner = { kind: 'decide', run: decide, texts: DECISION_TEXTS };

interface Step {
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

async function runCommand(fixture: Fixture): Promise<Observation> {
  const { attack } = fixture;
  await using world = await openCommandWorld(fixture, { approve: needsYes(attack) });
  const startedAt = performance.now();
  const results: ToolResult[] = [];
  for (const { tool, input } of stepsOf(attack)) results.push(await world.toolwright.call(tool, input));
  const durationMs = performance.now() - startedAt;
  const asksAlive = attack.expect.assert.includes('alive');
  const after = asksAlive ? await world.toolwright.call('bash', { command: 'echo here' }) : undefined;
  return { ...(await observeCalls(world, results, durationMs)), ...(after && { answersAfter: after.ok }) };
}

/** The outcome of calls, with everything that was said, asked and logged about them. */
export async function observeCalls(
  { toolwright, asked, logged }: CommandWorld,
  results: readonly ToolResult[],
  durationMs: number,
): Promise<Observation> {
  const ran = results.flatMap((result) => outcomesOf(result, asked.length > 0));
  // A question about the changes of a command is the question about the command.
  const isRefused = asked.some(({ tool }) => tool === KEEPING_TOOL);
  const discarded = results.filter(isDiscarded);
  const failed =
    isRefused || discarded.length > 0 ? undefined : results.map(failureOf).find((each) => each !== undefined);
  const isDenied = !isRefused && discarded.length > 0;
  return {
    outcomes: [
      ...new Set([...ran, ...(isRefused ? (['ask'] as const) : []), ...(isDenied ? (['deny'] as const) : [])]),
    ],
    text: [...results, ...asked, ...logged].map((each) => JSON.stringify(each)).join('\n'),
    durationMs,
    detail: { results, logged, recorded: JSON.stringify(await toolwright.executor.history()) },
    ...(failed !== undefined && { failed }),
  };
}

/** It ran, and the policy refused all of its changes in words. */
function isDiscarded({ ok, value }: ToolResult): boolean {
  const { changed } = (ok ? value : {}) as { changed?: KeptChanges | null };
  return changed?.state === 'discarded' && changed.reason !== null;
}

/** Null is the exit code of a process that still runs. */
function failureOf({ ok, value, text }: ToolResult): string | undefined {
  const { exitCode = null, signal = null } = (ok ? value : {}) as { exitCode?: number | null; signal?: string | null };
  return (exitCode === null || exitCode === 0) && signal === null ? undefined : text;
}

function stepsOf({ tool, input }: Attack): Step[] {
  return 'steps' in input ? (input['steps'] as Step[]) : [{ tool, input: { ...input } }];
}

/** The person says no, except where a case can only pass with a yes. An ordinary call must need none. */
function needsYes({ control, expect: { any_of: fine } }: Attack): boolean {
  return !control && fine.includes('allow') && !fine.includes('ask');
}

const REFUSALS: Partial<Record<ErrorCode, readonly OutcomeName[]>> = {
  APPROVAL_DENIED: ['ask'],
  APPROVAL_EXPIRED: ['ask'],
  INVALID_PATH: ['deny', 'error'],
  PERMISSION_DENIED: ['deny', 'error'],
  // It ran, in the sandbox, until it was stopped.
  TIMEOUT: ['allow', 'sandboxed'],
};

function outcomesOf(result: ToolResult, wasAsked: boolean): readonly OutcomeName[] {
  if (!result.ok) return REFUSALS[knownCode(result.error.code)] ?? ['error'];
  const ran: readonly OutcomeName[] = wasAsked ? ['allow', 'sandboxed'] : ['sandboxed', 'allow'];
  return isMasked(result.text) ? [...ran, 'deny'] : ran;
}

/** The mask over a secret refused to open it. */
function isMasked(text: string): boolean {
  const files = createFilePolicy();
  return [...text.matchAll(/([^\s:]+): (?:Cannot open: )?Permission denied/g)].some(
    ([, path = '']) => files.judge(path.replace(/^\.\//, '')).access === 'hidden',
  );
}

/** The verdict in the mode of the case. A refusal must be one in every mode, also where a rule allows everything. */
async function decide(fixture: Fixture): Promise<Observation> {
  const { attack, workspace } = fixture;
  const startedAt = performance.now();
  const checked = bash.input.check(attack.input);
  if (!checked.ok) {
    return { outcomes: ['error'], text: JSON.stringify(checked.issues), durationMs: 0, detail: { everywhere: [] } };
  }
  const { command, cwd } = checked.value;
  const access = { kind: 'process.run', command, writes: 'stage', ...(cwd !== undefined && { cwd }) } as const;
  const subject = {
    ...({ tool: attack.tool, args: attack.input, access: [access], effect: 'once', ownReason: undefined } as const),
    ...{ asksAlways: false, context: new ExecutionContext({ workingDir: workspace }) },
  };
  const inWords = policyFor(fixture).explain(subject);
  const expected = attack.expect.any_of;
  if (inWords.verdict === 'allow' && !attack.never_execute && !expected.includes('allow'))
    return (await observe(commandsRunner, fixture)) as Observation;
  const lost = DESTROYING.test(attack.class) ? [effectOf(subject, workspace)] : [];
  const judged = [subject, ...lost];
  // Nothing runs here, so that the modes themselves answer about the loss.
  const verdicts = judged.map((each) => policyFor(fixture, { ask: [] }).explain(each));
  const { verdict, reason } = verdicts.find((each) => each.verdict !== 'allow') ?? inWords;
  const everywhere = MODES.map((mode) => {
    const all = judged.map((each) => policyFor(fixture, { mode, ask: [] }).decide(each).verdict);
    return all.find((each) => each === 'deny') ?? all.find((each) => each === 'ask') ?? 'allow';
  });
  return { outcomes: [verdict], text: reason, durationMs: performance.now() - startedAt, detail: { everywhere } };
}

/** Cases that are never run and would destroy the workspace: the policy judges that effect, as it would after a run in a stage. */
const DESTROYING = /^dng\.(rm-|interp-rmtree|git-destroy)/;

function effectOf(subject: Subject, workspace: string): Subject {
  const changes = readdirSync(workspace).map((path): ClassifiedChange => {
    const before = { type: 'file', mode: 0o644, size: 1, digest: '' } as unknown as ClassifiedChange['before'];
    return { path, kind: 'deleted', before, after: null, class: 'ordinary' };
  });
  const paths = changes.map(({ path }) => path);
  const access = { kind: 'fs.apply', stage: 's', digest: '', paths, total: paths.length } as const;
  return { ...subject, tool: KEEPING_TOOL, args: { stage: 's' }, access: [access], changes };
}
