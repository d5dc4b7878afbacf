import { type ApprovalRecord, WITHDRAWN_DECISION } from '../kernel/call/approval.ts';
import type { LogEvent } from '../kernel/call/event.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { ApprovalRequest, ApprovalResponse, Approver } from '../kernel/ports.ts';

export interface Inbox extends Approver {
  /** Stops listening. Pending questions stay in the store, for the process that takes the call over. */
  close(): void;
}

export interface InboxOptions {
  /** Limits the pending questions of one session; more are refused, because nobody can answer a flood. */
  readonly maxPending?: number;
}

interface Waiter {
  tell(answer: ApprovalResponse): void;
  fail(error: unknown): void;
}

/** Waits for the answer to a question in the store, which any door of any process may take. */
export function createInbox(ledger: Ledger, { maxPending: mostPending = 100 }: InboxOptions = {}): Inbox {
  const waiting = new Map<string, Waiter>();
  const perSession = new Map<string, number>();
  const heard = (event: LogEvent) => {
    if (event.type !== 'approval.decided') return;
    const { approvalId, args } = event.data;
    const asked = waiting.get(approvalId);
    if (asked === undefined) return;
    // The event hides secrets in edited arguments; the store returns them as the person wrote them.
    if (args === undefined) asked.tell(responseIn(event));
    else void tellDecided(approvalId, asked);
  };
  const stop = ledger.follow(heard, { types: ['approval.decided'] });

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
      signal.addEventListener('abort', () => tell({ approved: false, message: WITHDRAWN_DECISION.message }), {
        once: true,
      });
      // An answer may have come between the question and now.
      void tellDecided(id, { tell, fail });
    });
  }

  /** An answer that cannot be read fails the wait, and nothing runs. */
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

interface RecordedDecision {
  approved: boolean;
  by: string | null;
  message: string | undefined;
  args: unknown;
  digest: string | undefined;
}

function response({ approved, by, message, args, digest }: RecordedDecision): ApprovalResponse {
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
  const message = `${most} questions of this session already wait for an answer. Wait until some are answered, and ask for less at once.`;
  return { approved: false, message };
}
