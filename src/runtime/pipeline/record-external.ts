import type { CallRecord } from '../../kernel/call/call.ts';
import { messageOf } from '../../kernel/error.ts';
import type { CallMove } from '../../kernel/call/event.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import type { Store } from '../../kernel/ports.ts';
import { fail, type Result } from '../../kernel/result.ts';

/** Something a person does to files without a tool. The colon keeps its name apart from those of tools. */
export interface Deed {
  readonly id: string;
  readonly session: string;
  readonly action: 'person:save' | 'person:undo';
  readonly args: { readonly by: string } & Readonly<Record<string, unknown>>;
}

/**
 * Recorded like a call, before and after, so that the history has it with who did it. It counts as running from the
 * start: one that its process left behind is nothing that anybody could run again.
 */
export async function recordByHand<T>(
  store: Store,
  { id, session, action, args }: Deed,
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
  await Promise.all([
    store.submit(call),
    store.move(id, start, { type: 'call.started', callId: id, at: requestedAt, data: started }),
  ]);
  const done = await work().catch(async (thrown) => {
    await end(fail('INTERNAL', messageOf(thrown)));
    throw thrown;
  });
  await end(done);
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

/** Where it is recorded what people do to a workspace's files outside of any session. Nobody runs tools in it. */
export function byHandIn(workspace: string): string {
  return `@files-${workspace}`;
}

/** Opens it on first use. */
export async function openByHand(ledger: Ledger, workspace: string, by: string): Promise<string> {
  const session = byHandIn(workspace);
  if ((await ledger.session(session)) !== null) return session;
  const data = { workspace, title: 'By hand', agent: null, by };
  await ledger.note(session, { type: 'session.created', callId: null, at: Date.now(), data });
  return session;
}
