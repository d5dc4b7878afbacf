import { randomUUID } from 'node:crypto';
import type { CallRecord, FinalState } from '../kernel/call.ts';
import { messageOf } from '../kernel/error.ts';
import { fail, isPromise, type Result } from '../kernel/result.ts';
import type { ToolResult } from '../kernel/tool-result.ts';
import { admit } from './admit.ts';
import { type CallRequest, CallScope } from './call-scope.ts';
import { Interruption } from './interruption.ts';
import { awaitRepeated } from './repeated-call.ts';
import { takeOver } from './resume.ts';
import { runAdmitted } from './run-admitted.ts';
import type { Runtime } from './runtime.ts';
import { settle } from './settle.ts';
import { withhold } from './withhold.ts';

/** How a call ended, before it is bounded, recorded and told. `text` is what the model reads of a value. */
export interface Ending {
  state: FinalState;
  result: Result<unknown>;
  text?: string;
}

/**
 * The one way a tool runs; every door leads here.
 *   record the request → admit (find, validate, hooks, policy, approval) → run (locks, tool, render) → settle
 * Every path ends in `settle`, so every call leaves one record and one final event.
 */
export async function executeCall(rt: Runtime, request: CallRequest): Promise<ToolResult> {
  const call = new CallScope(rt, request.resume?.id ?? randomUUID(), request);
  const ending = await attempt(rt, call);
  return 'state' in ending ? settle(rt, call, ending) : ending;
}

/** The only catch on the path: expected failures are values, so a throw is an interruption or a bug. */
async function attempt(rt: Runtime, call: CallScope): Promise<Ending | ToolResult> {
  try {
    const repeated = await recordRequest(rt, call);
    if (repeated !== undefined) return repeated;
    if (call.cancelSignal?.aborted) throw new Interruption('cancelled');
    const admitted = await admit(rt, call);
    if ('state' in admitted) return admitted;
    return await withhold(rt, call, await runAdmitted(rt, call, admitted));
  } catch (thrown) {
    return explain(call, thrown);
  } finally {
    call.ended = true;
    if (call.ticket !== undefined) rt.locks.release(call.ticket);
  }
}

/** Undefined when the request is new; the answer of the earlier call when its key was used before. */
async function recordRequest(rt: Runtime, call: CallScope): Promise<ToolResult | undefined> {
  const { resume } = call.request;
  if (resume !== undefined) {
    const other = await takeOver(rt, call, resume);
    return other === undefined ? undefined : repeated(other);
  }
  const submitted = rt.store.submit({
    id: call.callId,
    session: call.session,
    agent: call.agentId,
    tool: call.toolName,
    args: call.args,
    key: call.request.key ?? null,
    effect: 'once',
    state: 'requested',
    requestedAt: call.requestedAt,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    outcome: null,
  });
  const { call: recorded, event } = isPromise(submitted) ? await submitted : submitted;
  if (event === null) return repeated(recorded);
  rt.bus.emit(event);
  return undefined;

  function repeated(known: CallRecord): Promise<ToolResult> {
    return awaitRepeated(rt, known, (queued) =>
      executeCall(rt, { ...call.request, args: queued.args, resume: queued }),
    );
  }
}

function explain(call: CallScope, thrown: unknown): Ending {
  const name = call.toolName;
  if (thrown instanceof Interruption) return interrupted(call, thrown);
  const why = messageOf(thrown);
  if (call.stage === 'run') return failed(fail('EXECUTION_ERROR', why));
  const culprit = {
    record: 'The store',
    admit: `The definition of ${name}`,
    hook: 'A hook',
    policy: 'The policy',
    approval: 'The approver',
  };
  const message = `${culprit[call.stage]} failed, so ${name} ${call.startedAt === null ? 'did not run' : 'gives no result'}: ${why}`;
  return call.stage === 'approval'
    ? { state: 'denied', result: fail('APPROVAL_DENIED', message) }
    : failed(fail('INTERNAL', message));
}

function interrupted(call: CallScope, { why }: Interruption): Ending {
  const name = call.toolName;
  call.abort(why === 'timeout' ? `${name} timed out` : `${name} was cancelled`);
  const started = call.startedAt !== null;
  if (why === 'timeout') {
    const message = started
      ? `${name} timed out after ${call.timeout} s and was told to stop; what it did until then stays done. Give it more time or less to do.`
      : `${name} timed out after ${call.timeout} s before it started; nothing ran.`;
    return { state: 'timed_out', result: fail('TIMEOUT', message, { timeout: call.timeout, started }) };
  }
  const message = started
    ? `${name} was interrupted after it started; how far it came is not known.`
    : `${name} was cancelled before it started; nothing ran.`;
  const phase = started ? 'interrupted' : 'not_started';
  return { state: started ? 'interrupted' : 'cancelled', result: fail('CANCELLED', message, { phase }) };
}

function failed(result: Result<never>): Ending {
  return { state: 'failed', result };
}
