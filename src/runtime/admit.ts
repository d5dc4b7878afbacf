import { type Access, UNKNOWN_ACCESS } from '../kernel/access.ts';
import type { InputSchema } from '../kernel/input-schema.ts';
import type { Verdict } from '../kernel/ports.ts';
import { fail, isPromise, type MaybePromise, ok, type Result } from '../kernel/result.ts';
import type { Tool } from '../kernel/tool.ts';
import { askPerson } from './ask-person.ts';
import type { CallScope } from './call-scope.ts';
import type { Ending } from './ending.ts';
import { interruptible } from './interruption.ts';
import { redact } from './redact.ts';
import type { Runtime } from './runtime.ts';

/** A call that may run: exactly this input, touching exactly this. */
export interface Admitted {
  tool: Tool;
  input: unknown;
  access: readonly Access[];
  /** Why a person would be asked, if they would; only a dry run gets here with one unanswered. */
  wouldAsk: string | undefined;
}

/** find → validate → hooks → access → policy → approval. Touches nothing outside; says no with an Ending. */
export async function admit(rt: Runtime, call: CallScope): Promise<Admitted | Ending> {
  call.stage = 'admit';
  const found = typeof call.request.tool === 'string' ? rt.find(call.request.tool) : ok(call.request.tool);
  if (!found.ok) return refused(found);
  const tool = found.value;
  call.toolName = tool.name;
  logStart(rt, call);

  const given = validate(tool, call, call.request.args);
  if (!given.ok) return refused(given);
  const hooked = rt.hooks.length === 0 ? given : await applyHooks(rt, call, tool, given.value);
  if (!hooked.ok) return refused(hooked);

  const pending = judge(rt, call, tool, hooked.value);
  const judged = isPromise(pending) ? await pending : pending;
  if (!judged.ok) return { state: 'denied', result: judged };
  const { verdict, access } = judged.value;
  const admitted = { tool, input: hooked.value, access, wouldAsk: undefined };
  if (verdict.verdict === 'allow') return admitted;
  if (call.dryRun) return { ...admitted, wouldAsk: verdict.reason };

  const answer = await askPerson(rt, call, { tool, access, reason: verdict.reason });
  if ('state' in answer) return answer;
  return answer.modifiedArgs === undefined ? admitted : readmit(rt, call, tool, answer.modifiedArgs);
}

/** A person's edited arguments are a new proposal: validated and judged again. Their yes covers «ask», never «deny». */
async function readmit(rt: Runtime, call: CallScope, tool: Tool, args: unknown): Promise<Admitted | Ending> {
  const input = validate(tool, call, args);
  if (!input.ok) return refused(fail('INVALID_INPUT', `The edited arguments do not fit: ${input.error.message}`));
  const judged = await judge(rt, call, tool, input.value);
  if (!judged.ok) return { state: 'denied', result: judged };
  return { tool, input: input.value, access: judged.value.access, wouldAsk: undefined };
}

function validate(tool: Tool, call: CallScope, args: unknown): Result<unknown> {
  call.stage = 'admit';
  const checked = (tool.input as InputSchema).check(args);
  if (checked.warnings.length > 0) call.warnings.push(...checked.warnings);
  if (checked.ok) {
    call.args = checked.value;
    return checked;
  }
  return fail('INVALID_INPUT', checked.issues[0].message, { issues: checked.issues });
}

async function applyHooks(rt: Runtime, call: CallScope, tool: Tool, given: unknown): Promise<Result<unknown>> {
  let input = given;
  for (const hook of rt.hooks) {
    if (hook.before === undefined) continue;
    call.stage = 'hook';
    const { callId, context } = call;
    const seen = { callId, tool: tool.name, args: input as Record<string, unknown>, context };
    const answer = await bounded(call, hook.before(seen));
    if (answer === undefined) continue;
    if ('veto' in answer) return fail('PERMISSION_DENIED', `Hook ${hook.name} refused ${tool.name}: ${answer.veto}`);
    const changed = validate(tool, call, answer.args);
    if (!changed.ok) return changed;
    input = changed.value;
  }
  return ok(input);
}

interface Judged {
  verdict: Verdict;
  access: readonly Access[];
}

function judge(rt: Runtime, call: CallScope, tool: Tool, input: unknown): MaybePromise<Result<Judged>> {
  call.stage = 'admit';
  const access = tool.access === undefined ? UNKNOWN_ACCESS : tool.access(input, call);
  const ownReason = tool.approval?.(input, call);
  const now = !isPromise(access) && !isPromise(ownReason);
  return now
    ? decide(rt, call, { tool, input, access, ownReason })
    : judgeLater(rt, call, { tool, input, access, ownReason });
}

interface Claim {
  tool: Tool;
  input: unknown;
  access: readonly Access[];
  ownReason: string | undefined;
}

async function judgeLater(
  rt: Runtime,
  call: CallScope,
  claim: { [K in keyof Claim]: MaybePromise<Claim[K]> },
): Promise<Result<Judged>> {
  const [access, ownReason] = await Promise.all([bounded(call, claim.access), bounded(call, claim.ownReason)]);
  return decide(rt, call, { ...(claim as Claim), access, ownReason });
}

function decide(rt: Runtime, call: CallScope, { tool, input, access, ownReason }: Claim): MaybePromise<Result<Judged>> {
  call.request.turn?.declare(access);
  call.stage = 'policy';
  const subject = { tool: tool.name, args: input, access, effect: tool.effect, ownReason, context: call.context };
  const verdict = bounded(call, rt.policy.decide(subject));
  return isPromise(verdict) ? verdict.then((late) => judged(late, access)) : judged(verdict, access);
}

function judged(verdict: Verdict, access: readonly Access[]): Result<Judged> {
  if (verdict.verdict !== 'deny') return ok({ verdict, access });
  return fail('PERMISSION_DENIED', verdict.reason, { rule: verdict.rule });
}

/** What others write for us ends with the call's own time, so that nothing can hang a call for ever. */
function bounded<T>(call: CallScope, work: MaybePromise<T>): MaybePromise<T> {
  return isPromise(work) ? interruptible(work, call.timeout * 1000, call.cancelSignal) : work;
}

function refused(result: Result<unknown>): Ending {
  const denied = !result.ok && result.error.code === 'PERMISSION_DENIED';
  return { state: denied ? 'denied' : 'failed', result };
}

function logStart(rt: Runtime, { callId, toolName: tool, args }: CallScope): void {
  rt.log.info({ callId, tool }, `Executing tool: ${tool}`);
  if (rt.log.isLevelEnabled('debug'))
    rt.log.debug({ callId, tool, params: redact(args) }, `Parameters of tool: ${tool}`);
}
