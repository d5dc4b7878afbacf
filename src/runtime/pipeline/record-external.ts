import type { CallRecord } from '../../kernel/call/call.ts';
import type { CallMove } from '../../kernel/call/event.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { StoreError } from '../../kernel/call/store-error.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Store } from '../../kernel/ports.ts';
import { fail, type Result } from '../../kernel/result.ts';

/** A person's work with files without a tool. The colon tells its name from the names of tools. */
export interface ExternalAction {
  readonly id: string;
  readonly session: string;
  readonly action:
    | 'person:save'
    | 'person:undo'
    | 'person:keep'
    | 'person:discard'
    | 'person:collect'
    | 'person:read-secret';
  readonly args: { readonly by: string } & Readonly<Record<string, unknown>>;
}

/**
 * Records the action like a call, before and after, so that the history shows it and who did it. It counts as running
 * from the start, so that no process takes it over and runs it again.
 */
export async function recordExternal<T>(
  store: Store,
  { id, session, action, args }: ExternalAction,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  const requestedAt = Date.now();
  const began = performance.now();
  const call: CallRecord = {
    id,
    session,
    agent: null,
    tool: action,
    args,
    key: null,
    effect: 'once',
    state: 'requested',
    requestedAt,
    startedAt: null,
    finishedAt: null,
    durationMs: null,
    outcome: null,
  };
  const start: CallMove = { from: ['requested'], to: 'running', set: { startedAt: requestedAt } };
  const started = { tool: action, args, summary: action, access: [] };
  const begun = await Promise.all([
    store.submit(call),
    store.move(id, start, { type: 'call.started', callId: id, at: requestedAt, data: started }),
  ]).then(() => null, unrecorded);
  if (begun !== null) return begun;
  const done = await work().catch(async (thrown) => {
    await end(fail('INTERNAL', messageOf(thrown)));
    throw thrown;
  });
  // A failure is told in its own words, also when it cannot be recorded: both have one cause, as on a full disk.
  await end(done).catch(done.ok ? undefined : unrecorded);
  return done;

  async function end(done: Result<unknown>): Promise<void> {
    const [at, durationMs] = [Date.now(), performance.now() - began];
    const state = done.ok ? 'succeeded' : 'failed';
    const outcome = done.ok
      ? { ok: true, text: `${args.by} did it by hand.`, value: done.value }
      : { ok: false, text: `Error: ${done.error.message}`, error: done.error };
    const set = { finishedAt: at, durationMs, outcome };
    const data = { tool: action, state, outcome, durationMs } as const;
    await store.move(id, { from: ['running'], to: state, set }, { type: 'call.finished', callId: id, at, data });
  }
}

/** The failure for an action that the store cannot record. Any other error is a bug and is thrown again. */
function unrecorded(thrown: unknown): Result<never> {
  if (!(thrown instanceof StoreError)) throw thrown;
  return fail('EXECUTION_ERROR', thrown.message, { trouble: thrown.trouble });
}

/** Returns the session that records changes of people outside of any session. No tools run in it. */
export function externalSessionOf(workspace: string): string {
  return `@files-${workspace}`;
}

/** Creates that session on first use. */
export async function openExternalSession(ledger: Ledger, workspace: string, by: string): Promise<string> {
  const session = externalSessionOf(workspace);
  if ((await ledger.session(session)) !== null) return session;
  const data = { workspace, title: 'By hand', agent: null, by };
  await ledger.note(session, { type: 'session.created', callId: null, at: Date.now(), data });
  return session;
}
