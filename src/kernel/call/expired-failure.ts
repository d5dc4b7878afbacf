import type { Failure } from '../error.ts';

/** Of a call that waited for an answer in vain, whoever notices it: the process that asked, or who looks after the store. */
export function expiredFailure(tool: string): Failure {
  const message = `Nobody answered the request to approve ${tool} in time, so it did not run. Ask again when somebody is there.`;
  return { code: 'APPROVAL_EXPIRED', message };
}
