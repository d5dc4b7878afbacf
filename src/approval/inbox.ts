import type { ApprovalRecord } from '../kernel/approval.ts';
import type { LogEvent } from '../kernel/event.ts';
import type { Ledger } from '../kernel/ledger.ts';
import type { ApprovalRequest, ApprovalResponse, Approver } from '../kernel/ports.ts';

export interface Inbox extends Approver {
  /** Stops listening. What waits stays in the store, for whoever takes the call over. */
  close(): void;
}

export interface InboxOptions {
  /** Questions of one session that may wait at once; more are refused. A flood is nobody's question. */
  readonly mostPending?: number;
}

/** Asks nobody in particular: the question is in the store, and any door of any process may take the answer. */
export function createInbox(ledger: Ledger, { mostPending = 100 }: InboxOptions = {}): Inbox {
  const waiting = new Map<string, (answer: ApprovalResponse) => void>();
  const perSession = new Map<string, number>();
  const stop = ledger.follow((event) => {
    if (event.type !== 'approval.decided') return;
    const { approvalId, args } = event.data;
    const tell = waiting.get(approvalId);
    if (tell === undefined) return;
    if (args === undefined) tell(responseIn(event));
    // The event hides secrets; what is read from the store is what the person wrote.
    else void Promise.resolve(ledger.approval(approvalId)).then((known) => known && tell(toResponse(known)));
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
      perSession.set(session, (perSession.get(session) ?? 1) - 1);
    }
  }

  function answerTo(id: string, signal: AbortSignal): Promise<ApprovalResponse> {
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      signal.addEventListener('abort', () => resolve({ approved: false, message: 'cancelled' }), { once: true });
      // Somebody may have answered between the question and now.
      Promise.resolve(ledger.approval(id)).then((known) => {
        if (known !== null && known.state !== 'pending') resolve(toResponse(known));
      }, reject);
    });
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
