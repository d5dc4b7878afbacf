import type { ApprovalRecord, PresentedCall } from '../kernel/call/approval.ts';
import type { CallRecord } from '../kernel/call/call.ts';
import type { SessionRecord } from '../kernel/call/ledger.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { ApprovalView } from '../protocol/approvals.ts';
import type { CallView } from '../protocol/calls.ts';
import type { SessionView } from '../protocol/sessions.ts';
import type { ToolView } from '../protocol/tools.ts';

/** A call record as the API shows it. */
export function callView(call: CallRecord): CallView {
  const { id, session, agent, tool, args, state, effect, requestedAt, startedAt, finishedAt, durationMs } = call;
  const waitedMs = startedAt === null ? null : Math.max(0, startedAt - requestedAt);
  const outcome = call.outcome as CallView['outcome'];
  const { attempt = 0, approvedBy = null, deniedBy = null } = call;
  const times = { requestedAt, startedAt, finishedAt, durationMs, waitedMs };
  return { id, session, agent, tool, args, state, effect, ...times, attempt, outcome, approvedBy, deniedBy };
}

/**
 * One call with the tool's own view of its value. A value recorded by an older version of the tool may not fit the
 * view.
 */
export function callDetail(call: CallRecord, tool: Tool | undefined): CallView {
  const shown = callView(call);
  if (tool?.view === undefined || call.outcome?.ok !== true) return shown;
  try {
    return { ...shown, view: tool.view(call.outcome.value) as CallView['view'] };
  } catch {
    return shown;
  }
}

export function approvalView(approval: ApprovalRecord): ApprovalView {
  const { id, callId, session, tool, args, reason, state, digest } = approval;
  const { requestedAt, expiresAt, decidedAt, decidedBy, message, edited } = approval;
  return {
    id,
    stepId: callId,
    session,
    tool,
    args: edited?.args ?? args,
    reason,
    summary: summaryOf(approval),
    state,
    digest,
    requestedAt,
    expiresAt,
    decidedAt,
    decidedBy,
    message,
    changed: [...(edited?.changed ?? [])],
  };
}

/** A question about pending changes is named by the command that made them. */
function summaryOf(approval: ApprovalRecord): string {
  const shown = shownOf(approval);
  const changes = shown?.preview.find((block) => block.kind === 'changes');
  return changes?.title ?? shown?.summary ?? approval.tool;
}

/** Returns the preview that was shown for the arguments that count: the edited ones, where a person edited them. */
export function shownOf({ shown, edited }: ApprovalRecord): PresentedCall | null {
  return edited?.shown ?? shown;
}

export function sessionView(session: SessionRecord, now: Pick<SessionView, 'running' | 'collects'>): SessionView {
  const { id, title, workspace, agent, createdAt, updatedAt, lastSeq } = session;
  return { id, title, workspace, agent, createdAt, updatedAt, lastSeq, ...now };
}

export function toolView({ tool, enabled, source }: { tool: Tool; enabled: boolean; source: string }): ToolView {
  const { name, description, category, effect } = tool;
  return { name, description, category, effect, enabled, source };
}
