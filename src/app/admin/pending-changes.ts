import type { PendingChange, PendingChanges } from '../../http/backend.ts';
import type { ApprovalRecord } from '../../kernel/call/approval.ts';
import type { AnswerOutcome, ApprovalAnswers } from '../../kernel/call/approval-answers.ts';
import { type CallRecord, isFinal } from '../../kernel/call/call.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { knownCode } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import {
  type ChangesSelection,
  KEEPING_TOOL,
  type KeptChanges,
  keptChanges,
  nothingKept,
} from '../../kernel/tool/kept-changes.ts';
import type { Stage } from '../../kernel/world/stage.ts';
import { newCallId } from '../../runtime/pipeline/call-scope.ts';
import { recordExternal } from '../../runtime/pipeline/record-external.ts';
import { presentChanges } from '../../tools/changes/present-changes.ts';
import type { App } from '../open-app.ts';
import { beginCollecting, collectedChanges, endCollecting, settleCollected } from './collected-changes.ts';

const MAX_QUESTIONS = 1000;
const MAX_WAIT_MS = 60_000;

/** Takes the decisions of people about pending changes, at every door alike. */
export function openPendingChanges(app: App, answers: ApprovalAnswers): PendingChanges {
  return {
    async list() {
      const ended = await app.stages.list({ workspace: app.workspace.root });
      const stages = [...ended, ...(await collectedChanges(app))].toSorted((a, b) => a.createdAt - b.createdAt);
      if (stages.length === 0) return [];
      const open = await app.store.approvals({ state: 'pending', limit: MAX_QUESTIONS });
      const questions = open.filter(({ tool }) => tool === KEEPING_TOOL);
      return stages.map((stage) => ({ stage, question: questions.find((each) => isAbout(each, stage.id)) ?? null }));
    },
    present: ({ stage }) => presentChanges(stage, stage.changes),
    async keep(change, selection, by) {
      if (change.question !== null) return answerYes(app, answers, { question: change.question, selection, by });
      const settled = await settle(change, by);
      return settled.ok ? keepWithoutQuestion(app, answers, { change: settled.value, selection, by }) : settled;
    },
    async discard(change, by, message) {
      const settled = await settle(change, by);
      return settled.ok ? discard(app, answers, { change: settled.value, by, message }) : settled;
    },
    collects: (session) => app.sessions.of(app.workspace.root, session) !== undefined,
    collect: (session, onto, by) => beginCollecting(app, { session, onto, by }),
    endCollecting: (session) => endCollecting(app, session),
  };

  async function settle(change: PendingChange, by: string): Promise<Result<PendingChange>> {
    if (!change.stage.isCollecting) return ok(change);
    const settled = await settleCollected(app, change.stage, by);
    return settled.ok ? ok({ stage: settled.value, question: null }) : settled;
  }
}

function isAbout({ args }: Pick<ApprovalRecord, 'args'>, stage: string): boolean {
  return (args as { stage?: unknown } | null)?.stage === stage;
}

interface AnsweredQuestion {
  readonly question: ApprovalRecord;
  readonly selection: ChangesSelection;
  readonly by: string;
}

/** Answers the open question as every approval is answered, and waits until the changes are in the workspace. */
async function answerYes(
  app: App,
  answers: ApprovalAnswers,
  { question, selection, by }: AnsweredQuestion,
): Promise<Result<KeptChanges>> {
  const chosen = definedParts(selection);
  const edit = Object.keys(chosen).length === 0 ? undefined : { ...(question.args as object), ...chosen };
  const review = edit && (await answers.review(question.id, edit));
  if (review !== undefined && review.kind !== 'reviewed') return refusal(review);
  const yes = review === undefined ? { digest: question.digest } : { modifiedArgs: edit, digest: review.edit.digest };
  const answered = await answers.approve(question.id, by, yes);
  return answered.kind === 'answered' ? outcomeOf(app, question) : refusal(answered);
}

interface KeepRequest {
  readonly change: PendingChange;
  readonly selection: ChangesSelection;
  readonly by: string;
}

/** Keeps changes about which no question is open, as after a conflict. The person who keeps them is not asked again. */
async function keepWithoutQuestion(
  app: App,
  answers: ApprovalAnswers,
  { change: { stage }, selection, by }: KeepRequest,
): Promise<Result<KeptChanges>> {
  const id = newCallId();
  const chosen = definedParts(selection);
  const context = new ExecutionContext({ ...app.context, sessionId: stage.session });
  const unfollow = app.store.follow(
    (event) => {
      if (event.type !== 'approval.requested' || event.callId !== id) return;
      const { approvalId, digest } = event.data;
      void answers.approve(approvalId, by, { digest });
    },
    { types: ['approval.requested'] },
  );
  const args = { by, call: stage.callId, changes: stage.id, ...chosen };
  const deed = { id: newCallId(), session: stage.session, action: 'person:keep', args } as const;
  try {
    return await recordExternal(app.store, deed, async () => {
      const kept = await app.executor.keep({ stage: stage.id, call: stage.callId, ...chosen }, context, { id });
      if (kept.ok) return ok(keptChanges.parse(kept.value));
      const { code, message, details } = kept.error;
      return fail(knownCode(code), message, details);
    });
  } finally {
    unfollow();
  }
}

interface DiscardRequest {
  readonly change: PendingChange;
  readonly by: string;
  readonly message?: string | undefined;
}

async function discard(
  app: App,
  answers: ApprovalAnswers,
  { change: { stage, question }, by, message }: DiscardRequest,
): Promise<Result<KeptChanges>> {
  if (question !== null) {
    const answered = await answers.deny(question.id, by, message);
    if (answered.kind !== 'answered') return refusal(answered);
    await callEnd(app, question);
    // The process that asked may have ended before it could discard them.
    await stage.discard();
    return ok(DISCARDED);
  }
  const left = await afterKeeping(app, stage);
  if (!left.ok) return left;
  const args = { by, call: stage.callId, changes: stage.id };
  const deed = { id: newCallId(), session: stage.session, action: 'person:discard', args } as const;
  return recordExternal(app.store, deed, async () => {
    await left.value.discard();
    return ok(DISCARDED);
  });
}

// The call still waits for a moment after the yes was recorded.
const UNDER_WAY = ['awaiting_approval', 'queued', 'running'] as const;

/** Waits until a yes that came first is carried out, and returns the stage with what is left: that may be discarded. */
async function afterKeeping(app: App, stage: Stage): Promise<Result<Stage>> {
  const { id, session, workspace } = stage;
  const { items } = await app.store.calls({ session, tool: KEEPING_TOOL, states: UNDER_WAY });
  const keeping = items.find((call) => isAbout(call, id));
  if (keeping === undefined) return ok(stage);
  const call = await callEnd(app, { callId: keeping.id, session });
  if (call !== null && !isFinal(call.state))
    return fail('CONFLICT', 'They are being kept. List the changes again soon.');
  return app.stages.find(id, { session, workspace });
}

const DISCARDED = nothingKept('discarded', null);

function definedParts({ paths, hunks, texts }: ChangesSelection): ChangesSelection {
  return {
    ...(paths !== undefined && { paths }),
    ...(hunks !== undefined && { hunks }),
    ...(texts !== undefined && { texts }),
  };
}

function refusal(answered: Exclude<AnswerOutcome, { kind: 'answered' }>): Result<never> {
  if (answered.kind === 'refused') return { ok: false, error: answered.error };
  if (answered.kind === 'unknown') return fail('CONFLICT', GONE);
  const { state, decidedBy } = answered.approval;
  if (state === 'expired') return fail('APPROVAL_EXPIRED', 'The question expired. List the pending changes again.');
  if (state === 'superseded') return fail('CONFLICT', GONE);
  return fail('CONFLICT', `It was already ${state} by ${decidedBy ?? 'someone else'}.`, { state, by: decidedBy });
}

const GONE = 'The question about these changes is over. List the pending changes again.';

/** The result of the call that the answer let run. */
async function outcomeOf(app: App, question: ApprovalRecord): Promise<Result<KeptChanges>> {
  const call = await callEnd(app, question);
  if (call === null || !isFinal(call.state)) {
    return fail(
      'TIMEOUT',
      'Your answer is recorded, but the changes are not in the workspace yet. List them again soon.',
    );
  }
  const { outcome } = call;
  if (outcome?.ok) return ok(keptChanges.parse(outcome.value));
  const { code = 'INTERNAL', message = 'The changes could not be kept.', details } = outcome?.error ?? {};
  return fail(knownCode(code), message, details);
}

/** Waits for the end of the call that asked; if its process has ended, the call is taken over here. */
async function callEnd(
  app: App,
  { callId, session }: Pick<ApprovalRecord, 'callId' | 'session'>,
): Promise<CallRecord | null> {
  const ended = Promise.withResolvers<void>();
  const unfollow = app.store.follow((event) => event.callId === callId && ended.resolve(), {
    types: ['call.finished'],
  });
  const timer = setTimeout(ended.resolve, MAX_WAIT_MS);
  try {
    const call = await app.store.call(callId);
    if (call === null || isFinal(call.state)) return call;
    if (call.state === 'queued') {
      const context = new ExecutionContext({ ...app.context, sessionId: session });
      await app.executor.resume(({ id }) => (id === callId ? context : undefined));
    }
    const now = await app.store.call(callId);
    if (now === null || isFinal(now.state)) return now;
    await ended.promise;
    return app.store.call(callId);
  } finally {
    clearTimeout(timer);
    unfollow();
  }
}
