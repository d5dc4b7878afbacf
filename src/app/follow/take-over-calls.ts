import type { CallRecord } from '../../kernel/call/call.ts';
import { messageOf } from '../../kernel/error.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import type { Logger } from '../../kernel/ports.ts';
import type { App } from '../open-app.ts';

interface Parts {
  readonly ledger: Ledger;
  readonly log: Logger;
}

/**
 * Runs what ended processes left behind, in the workspace its session was opened for: now, and whenever more is found.
 * Calls of other workspaces are left to those who have them. Returns how to stop.
 */
export function takeOverCalls(apps: ReadonlyMap<string, App>, { ledger, log }: Parts): () => void {
  let stopped = false;
  const resume = () => {
    if (stopped) return;
    for (const [id, app] of apps) {
      const running = app.executor.resume((call) => contextFor(ledger, id, app, call));
      running.catch((error) => log.warn({}, `Calls left behind cannot be taken over now: ${messageOf(error)}`));
    }
  };
  // Many are found at once, and one look takes them all.
  let looking = false;
  const lookSoon = () => {
    if (looking) return;
    looking = true;
    setImmediate(() => {
      looking = false;
      resume();
    });
  };
  const stop = ledger.follow((event) => {
    if (event.type === 'call.requeued') lookSoon();
  });
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
