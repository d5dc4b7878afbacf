import { ExecutionContext } from '../../../src/kernel/call/execution-context.ts';
import type { ErrorCode } from '../../../src/kernel/error.ts';
import type { ToolResult } from '../../../src/kernel/tool/tool-result.ts';
import { MODES } from '../../../src/policy/create-policy.ts';
import { bash } from '../../../src/tools/shell/bash.ts';
import type { Attack, Observation, OutcomeName } from '../attack.ts';
import { openCommandWorld, policyFor } from '../command-world.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner } from '../harness.ts';
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
  const outcomes = [...new Set(results.flatMap((result) => outcomesOf(result, world.asked.length > 0)))];
  const text = [...results, ...world.asked, ...world.logged].map((each) => JSON.stringify(each)).join('\n');
  const asksAlive = attack.expect.assert.includes('alive');
  const after = asksAlive ? await world.toolwright.call('bash', { command: 'echo here' }) : undefined;
  return {
    outcomes,
    text,
    durationMs,
    detail: { results, logged: world.logged, recorded: JSON.stringify(await world.toolwright.executor.history()) },
    ...(after && { answersAfter: after.ok }),
  };
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
  if (!result.ok) return REFUSALS[result.error.code] ?? ['error'];
  return wasAsked ? ['allow', 'sandboxed'] : ['sandboxed', 'allow'];
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
  const access = { kind: 'process.run', command, writes: 'workspace', ...(cwd !== undefined && { cwd }) } as const;
  const subject = {
    ...({ tool: attack.tool, args: attack.input, access: [access], effect: 'once', ownReason: undefined } as const),
    ...{ asksAlways: false, context: new ExecutionContext({ workingDir: workspace }) },
  };
  const { verdict, reason } = policyFor(fixture).explain(subject);
  const everywhere = MODES.map((mode) => policyFor(fixture, mode).decide(subject).verdict);
  return { outcomes: [verdict], text: reason, durationMs: performance.now() - startedAt, detail: { everywhere } };
}
