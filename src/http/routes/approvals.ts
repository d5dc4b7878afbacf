import type { ApprovalRecord } from '../../kernel/call/approval.ts';
import type { AnswerOutcome } from '../../kernel/call/approval-answers.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Draft } from '../../kernel/tool/view.ts';
import type { ApprovalDetail } from '../../protocol/approvals.ts';
import type { Backend } from '../backend.ts';
import { type Credential, mayDo, maySee } from '../credentials.ts';
import { type HandlerResponse, type Handlers, json } from '../handler.ts';
import { failureResponse, refuse } from '../problem.ts';
import { SessionLookup } from '../session-lookup.ts';
import { approvalView, shownOf } from '../views.ts';

type ApprovalHandlers = Pick<Handlers, 'listApprovals' | 'getApproval' | 'reviewEdit' | 'approve' | 'deny'>;

const LIMITED_RULE = 'Your token is limited to some sessions, and a rule applies to all: approve this call only.';

export function approvalRoutes(backend: Backend): ApprovalHandlers {
  const { answers } = backend;
  const places = new SessionLookup(backend);

  /** Tokens that may approve see the exact arguments; others read the record. */
  const questionsFor = (who: Credential) => (mayAnswer(who) ? backend.ledger : backend.recorded);

  async function visible(id: string, who: Credential): Promise<ApprovalRecord | null> {
    const approval = await questionsFor(who).approval(id);
    return approval !== null && maySee(who, approval.session) ? approval : null;
  }

  async function draftOf({ tool, args, session }: ApprovalRecord, who: Credential): Promise<Draft | undefined> {
    const workspace = await places.find(session, who);
    if (workspace === undefined) return undefined;
    const context = new ExecutionContext({ ...workspace.context, sessionId: session });
    return workspace.executor.draft(tool, context, args);
  }

  async function detail(approval: ApprovalRecord, who: Credential): Promise<ApprovalDetail> {
    const { access = [], verdicts = [], preview = [] } = shownOf(approval) ?? {};
    const isAsked = approval.state === 'pending' && mayAnswer(who);
    const proposal = isAsked ? await answers.proposal(approval) : undefined;
    const draft = approval.state === 'pending' ? await draftOf(approval, who) : undefined;
    const shownDraft = draft === undefined ? null : { path: draft.path, before: draft.before, after: draft.after };
    // The protocol's types are those of the kernel, without readonly.
    return {
      ...approvalView(approval),
      access,
      verdicts,
      preview,
      draft: shownDraft,
      always: proposal?.ok ? { ...proposal.value, rule: proposal.value.rules.join('\n') } : null,
      whyNoRule: proposal?.ok === false ? proposal.error.message : null,
    } as unknown as ApprovalDetail;
  }

  async function toResponse(answered: AnswerOutcome, who: Credential): Promise<HandlerResponse> {
    switch (answered.kind) {
      case 'answered':
        return json(await detail(answered.approval, who));
      case 'unknown':
        return unknown();
      case 'refused':
        return failureResponse(answered.error);
      case 'over':
        return over(answered.approval);
    }
  }

  return {
    async listApprovals({ query, who }) {
      const { state, session, limit } = query;
      const filters = { ...(state !== undefined && { state }), ...(session !== undefined && { session }) };
      const items: ApprovalRecord[] = [];
      const questions = questionsFor(who);
      // Skips approvals the token may not see, until there is one more than a page holds or none is left.
      for (let { after } = query, isLast = false; !isLast && items.length <= limit; ) {
        const found = await questions.approvals({
          ...filters,
          ...(after !== undefined && { after }),
          limit: limit + 1,
        });
        items.push(...found.filter((each) => maySee(who, each.session)));
        after = found.at(-1)?.id;
        isLast = found.length <= limit;
      }
      const page = items.slice(0, limit);
      return json({ items: page.map(approvalView), next: items.length > limit ? page.at(-1)?.id : null });
    },

    async getApproval({ params, who }) {
      const approval = await visible(params.id ?? '', who);
      return approval === null ? unknown() : json(await detail(approval, who));
    },

    async reviewEdit({ params, who, body }) {
      const approval = await visible(params.id ?? '', who);
      if (approval === null) return unknown();
      const args = 'text' in body ? (await draftOf(approval, who))?.withText(body.text) : body.modifiedArgs;
      if (args === undefined) return refuse('CONFLICT', 'No text to edit: edit the arguments.');
      const reviewed = await answers.review(params.id ?? '', args);
      if (reviewed.kind !== 'reviewed') return toResponse(reviewed, who);
      const { args: checked, shown, digest } = reviewed.edit;
      const { summary, preview } = shown;
      return json({ args: checked, changed: reviewed.changed, summary, preview, digest });
    },

    async approve({ params, who, body }) {
      if ((await visible(params.id ?? '', who)) === null) return unknown();
      // A rule applies to every session of its workspace.
      if (body.always !== undefined && who.sessions !== null) return refuse('FORBIDDEN', LIMITED_RULE);
      return toResponse(await answers.approve(params.id ?? '', who.name, body), who);
    },

    async deny({ params, who, body }) {
      if ((await visible(params.id ?? '', who)) === null) return unknown();
      return toResponse(await answers.deny(params.id ?? '', who.name, body.message), who);
    },
  };
}

function mayAnswer({ role }: Credential): boolean {
  return mayDo(role, 'approver');
}

function unknown(): Response {
  return refuse('NOT_FOUND', 'Unknown approval.');
}

function over({ state, decidedBy }: ApprovalRecord): Response {
  if (state === 'expired') return refuse('GONE', 'It expired without an answer, so the call did not run.', { state });
  if (state === 'superseded') return refuse('GONE', 'Its call has ended.', { state });
  return refuse('CONFLICT', `It was already ${state} by ${decidedBy ?? 'someone else'}.`, { state, by: decidedBy });
}
