import type { ApprovalRecord } from '../kernel/approval.ts';
import type { CallScope } from './call-scope.ts';
import type { Runtime } from './runtime.ts';

/**
 * What a person said about a call before the process that asked ended. Undefined when nobody was asked or nobody has
 * answered, and once the call has started: a yes is used up by that, whatever became of it.
 */
export async function earlierAnswer(rt: Runtime, call: CallScope): Promise<ApprovalRecord | undefined> {
  const { resume } = call.request;
  if (resume === undefined || (resume.attempt ?? 0) > 0) return undefined;
  call.stage = 'store';
  const approval = await rt.store.approvalOf?.(call.callId);
  const isAnswer = approval != null && approval.state !== 'pending' && approval.state !== 'superseded';
  return isAnswer ? approval : undefined;
}
