import type { ChangesBlock } from '../../kernel/call/read-selection.ts';
import type { ApprovalRequest, ApprovalResponse, Approver } from '../../kernel/ports.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { approvalAnswer, approvalForm, fitsForm } from './approval-form.ts';
import { changesAnswer, changesFit, changesForm, changesOf } from './changes-form.ts';
import type { ClientCall } from './client-call.ts';

/**
 * Who may approve. A client may answer its forms without its user; `destructive-inbox` and `inbox` are for people who
 * do
 * not want to rely on the client.
 * any                the client's form and our own inbox, whichever is answered first
 * destructive-inbox  the same, but calls that cannot be undone are only answered in our own inbox
 * inbox              only our own inbox
 * client             only the client's form
 * nobody             calls that need approval are refused
 */
export const APPROVAL_WAYS = ['any', 'destructive-inbox', 'inbox', 'client', 'nobody'] as const;
export type ApprovalWay = (typeof APPROVAL_WAYS)[number];

export interface McpApproverOptions {
  readonly way: ApprovalWay;
  /** Our own inbox, answered in the web app or on the command line, by any process. */
  readonly inbox?: Approver | undefined;
  /** Where a person finds the inbox, for the client's progress line. */
  readonly inboxHint?: string | undefined;
  /** Approval with "always", under the same checks as in our own inbox. Without it the form does not offer "always". */
  readonly always?: AlwaysRules | undefined;
  /** Refuses where no person can be asked, and names the rule that would have allowed the call. */
  readonly headless?: Approver | undefined;
}

export interface AlwaysRules {
  /** Returns the narrowest rules that cover the call; none where no rule is safe enough. */
  propose(request: ApprovalRequest): Promise<readonly string[]>;
  /** Records the approval and saves exactly these rules, or says why it did neither. */
  approve(request: ApprovalRequest, by: string, rules: readonly string[]): Promise<ApprovalResponse>;
}

export interface McpApprover extends Approver {
  /** Calls of this server, by id. */
  readonly runs: Map<string, ClientCall>;
}

/**
 * Asks the client's user with a form, where the client supports forms, and our own inbox; the first answer counts.
 * Calls
 * that came from elsewhere are asked in the inbox. `options` is read with every question, because the executor that
 * needs the approver is built before the store of the inbox.
 */
export function createMcpApprover(options: () => McpApproverOptions): McpApprover {
  const runs = new Map<string, ClientCall>();
  return { runs, ask };

  async function ask(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalResponse> {
    const { way, inbox, inboxHint, always, headless = refusing } = options();
    const run = runs.get(request.outerCall ?? request.stepId);
    const over = new AbortController();
    const either = AbortSignal.any([signal, over.signal]);
    const asked: Promise<ApprovalResponse>[] = [];
    if (run?.canAsk && trustsClient(way, request.access) && fits(request)) {
      asked.push(askClient(run, { request, way, always, signal: either }));
    }
    const asksInbox = inbox !== undefined && (run === undefined || TRUSTS_INBOX.has(way));
    if (asksInbox) asked.push(Promise.resolve(inbox.ask(request, either)));
    if (asked.length === 0) return fits(request) ? headless.ask(request, signal) : tooLong(request);
    const telling = asksInbox ? repeatProgress(run, request, inboxHint) : undefined;
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

function fits(request: ApprovalRequest): boolean {
  const changes = changesOf(request);
  return changes === undefined ? fitsForm(request) : changesFit(request, changes);
}

/** Repeats progress while a question is open, because a client gives up on a call that is silent. */
function repeatProgress(
  run: ClientCall | undefined,
  { summary }: ApprovalRequest,
  hint: string | undefined,
): NodeJS.Timeout {
  const where = hint === undefined ? '' : ` ${hint}`;
  const tell = () => run?.progress({ message: `Waiting for approval: ${summary}.${where}` });
  tell();
  return setInterval(tell, PROGRESS_MS).unref();
}

const PROGRESS_MS = 5000;

const TRUSTS_INBOX: ReadonlySet<ApprovalWay> = new Set(['any', 'destructive-inbox', 'inbox']);

function trustsClient(way: ApprovalWay, access: readonly Access[]): boolean {
  return way === 'any' || way === 'client' || (way === 'destructive-inbox' && !isDestructive(access));
}

/** Whether undo may not restore the effects: changes of files are in the journal, also those of a command that are kept. */
function isDestructive(access: readonly Access[]): boolean {
  return access.some(
    (each) =>
      each.kind === 'fs.delete' ||
      each.kind === 'unknown' ||
      (each.kind === 'process.run' && (each.writes === 'workspace' || each.writes === 'background' || each.network)) ||
      (each.kind === 'net.fetch' && each.method !== 'GET'),
  );
}

interface FormQuestion {
  readonly request: ApprovalRequest;
  readonly way: ApprovalWay;
  readonly always: AlwaysRules | undefined;
  readonly signal: AbortSignal;
}

async function askClient(run: ClientCall, question: FormQuestion): Promise<ApprovalResponse> {
  const { request, way, always, signal } = question;
  const changes = changesOf(request);
  if (changes !== undefined) return askAboutChanges(run, question, changes);
  const proposed = (await always?.propose(request)) ?? [];
  const rules = fitsForm(request, proposed) ? proposed : [];
  const form = { method: 'elicitation/create' as const, params: approvalForm(request, rules) };
  const { approval } = await run.ask({ approval: form }, signal);
  const by = `mcp:${run.client}`;
  const { always: saved, ...answer } = approvalAnswer(request, { answer: approval, by, rules });
  if (answer.modifiedArgs !== undefined) return edited(run, way, answer);
  return saved === undefined || always === undefined ? answer : always.approve(request, by, saved);
}

/** Asks again while the answer names a path that is not there: a slip must not cost the changes. */
async function askAboutChanges(
  run: ClientCall,
  { request, signal }: FormQuestion,
  changes: ChangesBlock,
): Promise<ApprovalResponse> {
  const by = `mcp:${run.client}`;
  for (let problem: string | undefined, round = 0; round < MAX_ROUNDS; round++) {
    const form = { method: 'elicitation/create' as const, params: changesForm(request, changes, problem) };
    const { approval } = await run.ask({ approval: form }, signal);
    const answer = changesAnswer(request, changes, { answer: approval, by });
    if ('approved' in answer) return answer;
    problem = answer.problem;
  }
  return { approved: false, by, message: 'the answers named paths that are not among the changes.' };
}

const MAX_ROUNDS = 10;

/**
 * Reviews edited arguments as a new call, which this client may not be allowed to approve. The digest binds the
 * approval to the reviewed arguments.
 */
async function edited(run: ClientCall, way: ApprovalWay, answer: ApprovalResponse): Promise<ApprovalResponse> {
  const { by, modifiedArgs } = answer;
  if (way !== 'destructive-inbox') return answer;
  const review = await run.review(modifiedArgs);
  const refusal = { approved: false, ...(by !== undefined && { by }) };
  if (!review.ok) return { ...refusal, message: `the edited arguments are invalid: ${review.error.message}` };
  const { subject, digest } = review.value;
  return trustsClient(way, subject.access) ? { ...answer, digest } : { ...refusal, message: NOT_BY_EDITING };
}

const NOT_BY_EDITING =
  'the edited call cannot be undone and cannot be approved in a form. Call it with the edited arguments, ' +
  'and answer in the web app or with toolwright approvals.';

/** Refuses a call too long for the client's form where no other way to ask exists. */
function tooLong({ tool }: ApprovalRequest): ApprovalResponse {
  const next =
    'Set mcpApprovals to any and answer in the web app or with toolwright approvals, or make the call smaller.';
  return { approved: false, message: `the call of ${tool} is too long for a form. ${next}` };
}

const refusing: Approver = {
  ask({ tool, reason }) {
    const next = `Allow it with a rule, such as ${tool} in the setting allow, or use a client that can ask.`;
    return { approved: false, message: `no person can approve here. ${reason} ${next}` };
  },
};
