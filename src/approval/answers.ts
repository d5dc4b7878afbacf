import { randomUUID } from 'node:crypto';
import type { ApprovalRecord, PresentedCall } from '../kernel/call/approval.ts';
import type {
  AnswerOutcome,
  ApprovalAnswers,
  ApproveOptions,
  EditReview,
  ReviewedEdit,
  RuleProposal,
} from '../kernel/call/approval-answers.ts';
import type { EventData, NewSystemEvent } from '../kernel/call/event.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { Failure } from '../kernel/error.ts';
import type { MaybePromise, Result } from '../kernel/result.ts';
import { changedFields } from '../kernel/tool/changed-fields.ts';

export interface AnswersOptions {
  readonly ledger: Ledger;
  /** Judges other arguments for the same call, in its session and workspace. */
  readonly review: (approval: ApprovalRecord, args: Record<string, unknown>) => Promise<Result<ReviewedEdit>>;
  /** Fails when no rule is safe enough, or when the rules that a person wrote are not. */
  readonly propose: (approval: ApprovalRecord, written?: readonly string[]) => MaybePromise<Result<RuleProposal>>;
  /** Called when an answer saved a rule, before the answer is returned. */
  readonly ruleSaved?: () => MaybePromise<void>;
  readonly now?: () => number;
}

/** Takes answers for any call of any process. The first one counts; the store decides which is first. */
export function createAnswers(parts: AnswersOptions): ApprovalAnswers {
  const { ledger, now = Date.now } = parts;

  async function approve(
    id: string,
    by: string,
    { modifiedArgs, always, digest }: ApproveOptions = {},
  ): Promise<AnswerOutcome> {
    const found = await pending(id);
    if (found.kind !== 'pending') return found;
    const { approval } = found;
    if (modifiedArgs === undefined && digest !== undefined && digest !== approval.digest) return refused(notShown());
    const rule = always === undefined ? undefined : await ruleToSave(approval, always);
    if (rule?.ok === false) return refused(rule.error);
    const edit = modifiedArgs === undefined ? undefined : await reviewed(approval, modifiedArgs);
    if (edit !== undefined && edit.kind !== 'reviewed') return edit;
    if (edit !== undefined && digest !== edit.edit.digest) return refused(notReviewed(digest));
    if (edit !== undefined && rule !== undefined && edit.changed.length > 0) return refused(eitherOr());

    const isEdited = edit !== undefined && edit.changed.length > 0;
    const more = isEdited ? { ...partsOf(edit.edit), changed: [...edit.changed] } : {};
    const rules = rule === undefined ? [] : toSave(rule.value, by);
    const answered = await decide(approval, { approvalId: id, approved: true, by, ...more }, rules);
    if (answered.kind === 'answered' && rule !== undefined) await parts.ruleSaved?.();
    return answered;
  }

  async function deny(id: string, by: string, message?: string): Promise<AnswerOutcome> {
    const found = await pending(id);
    if (found.kind !== 'pending') return found;
    const data = { approvalId: id, approved: false, by, ...(message !== undefined && { message }) };
    return decide(found.approval, data);
  }

  async function review(id: string, args: Record<string, unknown>): Promise<EditReview> {
    const found = await pending(id);
    return found.kind === 'pending' ? reviewed(found.approval, args) : found;
  }

  async function pending(
    id: string,
  ): Promise<{ kind: 'pending'; approval: ApprovalRecord } | Exclude<AnswerOutcome, { kind: 'answered' | 'refused' }>> {
    const approval = await ledger.approval(id);
    if (approval === null) return { kind: 'unknown' };
    const late = approval.expiresAt !== null && approval.expiresAt <= (await ledger.now());
    if (late && approval.state === 'pending') return { kind: 'over', approval: { ...approval, state: 'expired' } };
    return { kind: approval.state === 'pending' ? 'pending' : 'over', approval };
  }

  async function reviewed(approval: ApprovalRecord, args: Record<string, unknown>): Promise<EditReview> {
    const made = await parts.review(approval, args);
    if (!made.ok) return refused(made.error);
    const { verdict } = made.value;
    if (verdict.verdict === 'deny') {
      return refused({ code: 'PERMISSION_DENIED', message: verdict.reason, details: { rule: verdict.rule } });
    }
    const unreachable = outOfReach(made.value.shown);
    if (unreachable !== undefined) return refused(unreachable);
    return { kind: 'reviewed', edit: made.value, changed: changedFields(approval.args, made.value.args) };
  }

  /** Rules are saved with the approval or not at all: a missing rule could not be requested again. */
  function toSave({ rules, workspace }: RuleProposal, by: string): NewSystemEvent<'rule.saved'>[] {
    return rules.map((rule) => ({
      type: 'rule.saved',
      at: now(),
      data: { ruleId: randomUUID(), rule, verdict: 'allow', by, workspace },
    }));
  }

  async function decide(
    approval: ApprovalRecord,
    data: EventData['approval.decided'],
    rules?: readonly NewSystemEvent<'rule.saved'>[],
  ): Promise<AnswerOutcome> {
    const { callId, id } = approval;
    const decided = await ledger.decide({ type: 'approval.decided', callId, at: now(), data }, rules);
    const after = (await ledger.approval(id)) ?? approval;
    if (decided === null) return { kind: 'over', approval: after };
    // If the asking process has ended, the call now has to be queued. This process has not.
    const owner = (await ledger.call(callId))?.node;
    if (owner?.id !== ledger.node.id || owner.epoch !== ledger.node.epoch) await ledger.recover();
    return { kind: 'answered', approval: after };
  }

  async function ruleToSave(approval: ApprovalRecord, always: true | string): Promise<Result<RuleProposal>> {
    const proposal = await parts.propose(approval);
    if (always === true || (proposal.ok && always.trim() === proposal.value.rules.join('\n'))) return proposal;
    const written = always.split('\n').map((line) => line.trim());
    return parts.propose(approval, [...new Set(written.filter((line) => line !== ''))]);
  }

  return { approve, deny, review, proposal: async (approval) => parts.propose(approval) };
}

/** Reports a path that the workspace would refuse while the person can still edit it. */
function outOfReach({ access, seen }: PresentedCall): Failure | undefined {
  for (const touched of access) {
    if (!('path' in touched)) continue;
    const code = seen[touched.path];
    if (code === 'INVALID_PATH')
      return { code, message: `${touched.path} is not a path in the workspace: give another.` };
    if (code === 'PERMISSION_DENIED') return { code, message: `${touched.path} is out of reach: give another path.` };
  }
  return undefined;
}

function partsOf({ args, digest, shown }: ReviewedEdit) {
  return { args, digest, shown };
}

function refused(error: Failure): { kind: 'refused'; error: Failure } {
  return { kind: 'refused', error };
}

function notShown(): Failure {
  const message = 'The request has changed since it was shown: read it again, then answer it.';
  return { code: 'CONFLICT', message };
}

/** An approval of edited arguments names the digest of their review, so that the reviewed call is the one that runs. */
function notReviewed(digest: string | undefined): Failure {
  const next = 'Review the edited arguments, read what they would do, and approve them with the digest of that review.';
  const what = digest === undefined ? 'The edited arguments were not reviewed.' : 'Something changed since the review.';
  return { code: 'CONFLICT', message: `${what} ${next}` };
}

function eitherOr(): Failure {
  const message = '"Always" covers the call as it was asked, not as you edited it. Send one of the two.';
  return { code: 'INVALID_INPUT', message };
}
