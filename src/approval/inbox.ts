import type { ApprovalRecord } from '../kernel/approval.ts';
import type { LogEvent } from '../kernel/call/event.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { ApprovalRequest, ApprovalResponse, Approver } from '../kernel/ports.ts';

export interface Inbox extends Approver {
  /** Stops listening. What waits stays in the store, for whoever takes the call over. */
  close(): void;
}

export interface InboxOptions {
  /** Questions of one session that may wait at once; more are refused. A flood is nobody's question. */
  readonly mostPending?: number;
}

interface Waiter {
  tell(answer: ApprovalResponse): void;
  fail(error: unknown): void;
}

/** Asks nobody in particular: the question is in the store, and any door of any process may take the answer. */
export function createInbox(ledger: Ledger, { mostPending = 100 }: InboxOptions = {}): Inbox {
  const waiting = new Map<string, Waiter>();
  const perSession = new Map<string, number>();
  const stop = ledger.follow((event) => {
    if (event.type !== 'approval.decided') return;
    const { approvalId, args } = event.data;
    const asked = waiting.get(approvalId);
    if (asked === undefined) return;
    // The event hides secrets; what is read from the store is what the person wrote.
    if (args === undefined) asked.tell(responseIn(event));
    else void tellDecided(approvalId, asked);
  });

  async function ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalResponse> {
    const { id, session } = request;
    const count = perSession.get(session) ?? 0;
    if (count >= mostPending) return flooded(mostPending);
    perSession.set(session, count + 1);
    try {
      return await answerTo(id, signal);
    } finally {
      waiting.delete(id);
      const left = (perSession.get(session) ?? 1) - 1;
      if (left > 0) perSession.set(session, left);
      else perSession.delete(session);
    }
  }

  function answerTo(id: string, signal: AbortSignal): Promise<ApprovalResponse> {
    return new Promise((tell, fail) => {
      waiting.set(id, { tell, fail });
      signal.addEventListener('abort', () => tell({ approved: false, message: 'cancelled' }), { once: true });
      // Somebody may have answered between the question and now.
      void tellDecided(id, { tell, fail });
    });
  }

  /** An answer that cannot be read is none: whoever asked is told, and nothing runs. */
  async function tellDecided(id: string, { tell, fail }: Waiter): Promise<void> {
    try {
      const known = await ledger.approval(id);
      if (known !== null && known.state !== 'pending') tell(toResponse(known));
    } catch (error) {
      fail(error);
    }
  }

  return { ask, close: stop };
}

function responseIn({ data }: Extract<LogEvent, { type: 'approval.decided' }>): ApprovalResponse {
  const { approved, by, message, args, digest } = data;
  return response({ approved, by, message, args, digest });
}

function toResponse({ state, decidedBy, message, edited }: ApprovalRecord): ApprovalResponse {
  const approved = state === 'approved';
  return response({
    approved,
    by: decidedBy,
    message: message ?? undefined,
    args: edited?.args,
    digest: edited?.digest,
  });
}

interface Decision {
  approved: boolean;
  by: string | null;
  message: string | undefined;
  args: unknown;
  digest: string | undefined;
}

function response({ approved, by, message, args, digest }: Decision): ApprovalResponse {
  return {
    approved,
    recorded: true,
    ...(by !== null && { by }),
    ...(message !== undefined && { message }),
    ...(args !== undefined && { modifiedArgs: args as Record<string, unknown> }),
    ...(digest !== undefined && { digest }),
  };
}

function flooded(most: number): ApprovalResponse {
  const message = `${most} questions of this session wait for an answer already. Wait until some are answered, and ask for less at once.`;
  return { approved: false, message };
}
