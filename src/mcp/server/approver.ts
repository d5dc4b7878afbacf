import type { Access } from '../../kernel/tool/access.ts';
import type { ApprovalRequest, ApprovalResponse, Approver } from '../../kernel/ports.ts';
import { approvalAnswer, approvalForm, fitsForm } from './approval-form.ts';
import type { Run } from './client-call.ts';

/**
 * Whose answer counts. A client may answer its forms by itself, without its user: `destructive-inbox` and `inbox` are
 * for those who do not want to rely on it.
 *   any                the client's form and our own inbox, whichever is answered first
 *   destructive-inbox  the same, but what cannot be undone is only answered in our own inbox
 *   inbox              only our own inbox
 *   client             only the client's form
 *   nobody             what would be asked about is refused
 */
export const APPROVAL_WAYS = ['any', 'destructive-inbox', 'inbox', 'client', 'nobody'] as const;
export type ApprovalWay = (typeof APPROVAL_WAYS)[number];

export interface McpApproverOptions {
  readonly way: ApprovalWay;
  /** Our own inbox: answered in the web app or on the command line, by whatever process. */
  readonly inbox?: Approver | undefined;
  /** Where a person finds the inbox, for the client's progress line. */
  readonly inboxHint?: string | undefined;
  /** A yes for good, with the same checks as in our own inbox. Left out: the form offers none. */
  readonly always?: Always | undefined;
  /** Says no where nobody can be asked, with the rule that would have allowed it. */
  readonly headless?: Approver | undefined;
}

export interface Always {
  /** The narrowest rules that cover the call; none where no rule is safe enough. */
  propose(request: ApprovalRequest): Promise<readonly string[]>;
  /** Records the yes and saves exactly these rules, or says why it did neither. */
  approve(request: ApprovalRequest, by: string, rules: readonly string[]): Promise<ApprovalResponse>;
}

export interface McpApprover extends Approver {
  /** The door's calls, by id. */
  readonly runs: Map<string, Run>;
}

/**
 * Asks the client's user with a form where the client has forms, and our own inbox; the first answer counts. Calls that
 * came through another door are asked about in the inbox. `options` is read with every question, as an executor that
 * needs its approver is built before the store that the inbox is made of.
 */
export function createMcpApprover(options: () => McpApproverOptions): McpApprover {
  const runs = new Map<string, Run>();
  return { runs, ask };

  async function ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalResponse> {
    const { way, inbox, inboxHint, always, headless = refusing } = options();
    const run = runs.get(request.stepId);
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const asked: Promise<ApprovalResponse>[] = [];
    if (run?.canAsk && trustsClient(way, request.access) && fitsForm(request)) {
      asked.push(askClient(run, { request, way, always, signal: either }));
    }
    const asksInbox = inbox !== undefined && (run === undefined || TRUSTS_INBOX.has(way));
    if (asksInbox) asked.push(Promise.resolve(inbox.ask(request, either)));
    if (asked.length === 0) return fitsForm(request) ? headless.ask(request, signal) : tooLong(request);
    const telling = asksInbox ? keepTelling(run, request, inboxHint) : undefined;
    try {
      return await Promise.any(asked);
    } catch (error) {
      throw error instanceof AggregateError ? error.errors[0] : error;
    } finally {
      clearInterval(telling);
      over.abort();
    }
  }
}

/** A client gives up on a call that it hears nothing of. */
function keepTelling(run: Run | undefined, { summary }: ApprovalRequest, hint: string | undefined): NodeJS.Timeout {
  const where = hint === undefined ? '' : ` ${hint}`;
  const tell = () => run?.progress({ message: `Waiting for approval: ${summary}.${where}` });
  tell();
  return setInterval(tell, TELL_MS).unref();
}

const TELL_MS = 5000;

const TRUSTS_INBOX: ReadonlySet<ApprovalWay> = new Set(['any', 'destructive-inbox', 'inbox']);

function trustsClient(way: ApprovalWay, access: readonly Access[]): boolean {
  return way === 'any' || way === 'client' || (way === 'destructive-inbox' && !isDestructive(access));
}

/** What undo does not bring back for certain: a change of a file is in the journal, a command's doing is not. */
function isDestructive(access: readonly Access[]): boolean {
  return access.some(
    (each) =>
      each.kind === 'fs.delete' ||
      each.kind === 'unknown' ||
      (each.kind === 'process.run' && each.writes !== 'nothing') ||
      (each.kind === 'net.fetch' && each.method !== 'GET'),
  );
}

interface ClientQuestion {
  readonly request: ApprovalRequest;
  readonly way: ApprovalWay;
  readonly always: Always | undefined;
  readonly signal: AbortSignal;
}

async function askClient(run: Run, { request, way, always, signal }: ClientQuestion): Promise<ApprovalResponse> {
  const proposed = (await always?.propose(request)) ?? [];
  const rules = fitsForm(request, proposed) ? proposed : [];
  const form = { method: 'elicitation/create' as const, params: approvalForm(request, rules) };
  const { approval } = await run.ask({ approval: form }, signal);
  const by = `mcp:${run.client}`;
  const { always: saved, ...answer } = approvalAnswer(request, { answer: approval, by, rules });
  if (answer.modifiedArgs !== undefined) return edited(run, way, answer);
  return saved === undefined || always === undefined ? answer : always.approve(request, by, saved);
}

/** An edit makes another call of it, about which the client's word may not count. The digest keeps it to what was looked at. */
async function edited(run: Run, way: ApprovalWay, answer: ApprovalResponse): Promise<ApprovalResponse> {
  const { by, modifiedArgs } = answer;
  if (way !== 'destructive-inbox') return answer;
  const review = await run.review(modifiedArgs);
  const refusal = { approved: false, ...(by !== undefined && { by }) };
  if (!review.ok) return { ...refusal, message: `the edited arguments do not fit: ${review.error.message}` };
  const { subject, digest } = review.value;
  return trustsClient(way, subject.access) ? { ...answer, digest } : { ...refusal, message: NOT_BY_EDITING };
}

const NOT_BY_EDITING =
  'as it was edited it cannot be undone, and that is not answered in a form here. Call it with the edited arguments, ' +
  'and answer in the web app or with toolwright approvals.';

/** A client's form that cuts what runs is not asked, and here nobody else can be. */
function tooLong({ tool }: ApprovalRequest): ApprovalResponse {
  const next =
    'Set mcpApprovals to any and answer in the web app or with toolwright approvals, or make the call smaller.';
  return { approved: false, message: `what ${tool} would do is too long to be shown in a form. ${next}` };
}

const refusing: Approver = {
  ask({ tool, reason }) {
    const next = `Allow it with a rule, such as ${tool} in the setting allow, or use a client that can ask.`;
    return { approved: false, message: `nobody can be asked here. ${reason} ${next}` };
  },
};
