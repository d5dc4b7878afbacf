import type { ApprovalRecord } from '../kernel/approval.ts';
import type { CallScope } from './call-scope.ts';
import type { Runtime } from './runtime.ts';

/**
 * What a person said about a call before the process that asked ended. Undefined when nobody was asked or nobody has
 * answered. Once the call has started a yes is used up, whatever became of it; a no stays a no.
 */
export async function earlierAnswer(rt: Runtime, call: CallScope): Promise<ApprovalRecord | undefined> {
  const { resume } = call.request;
  if (resume === undefined) return undefined;
  call.stage = 'store';
  const approval = await rt.store.approvalOf?.(call.callId);
  const isAnswer = approval != null && approval.state !== 'pending' && approval.state !== 'superseded';
  const isUsedUp = approval?.state === 'approved' && (resume.attempt ?? 0) > 0;
  return isAnswer && !isUsedUp ? approval : undefined;
}
