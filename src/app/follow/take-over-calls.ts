import type { CallRecord } from '../../kernel/call/call.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Logger } from '../../kernel/ports.ts';
import type { App } from '../open-app.ts';

interface TakeOverOptions {
  readonly ledger: Ledger;
  readonly log: Logger;
}

/**
 * Runs queued calls of ended processes in the workspace of their session, now and whenever more are found. Calls of
 * other workspaces are left to the processes that have them open. Returns a function that stops it.
 */
export function takeOverCalls(apps: ReadonlyMap<string, App>, { ledger, log }: TakeOverOptions): () => void {
  let stopped = false;
  const resume = () => {
    if (stopped) return;
    for (const [id, app] of apps) {
      const running = app.executor.resume((call) => contextFor(ledger, id, app, call));
      running.catch((error) => log.warn({}, `Calls of ended processes cannot be taken over now: ${messageOf(error)}`));
    }
  };
  // Coalesces many events into one look, which takes all calls.
  let looking = false;
  const lookSoon = () => {
    if (looking) return;
    looking = true;
    setImmediate(() => {
      looking = false;
      resume();
    });
  };
  const stop = ledger.follow(lookSoon, { types: ['call.requeued'] });
  Promise.resolve(ledger.recover()).then(lookSoon, (error) => log.warn({}, messageOf(error)));
  return () => {
    stopped = true;
    stop();
  };
}

async function contextFor(
  ledger: Ledger,
  workspace: string,
  { context }: App,
  call: CallRecord,
): Promise<ExecutionContext | undefined> {
  const session = await ledger.session(call.session);
  if (session?.workspace !== workspace) return undefined;
  return new ExecutionContext({ ...context, sessionId: call.session, agentId: call.agent });
}
