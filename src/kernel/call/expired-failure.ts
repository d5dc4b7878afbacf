import type { Failure } from '../error.ts';

/** The failure of a call whose request for approval expired, whether its own process or the store's recovery notices it. */
export function expiredFailure(tool: string): Failure {
  const message = `Nobody answered the request to approve ${tool} in time, so it did not run. Ask again when somebody is there.`;
  return { code: 'APPROVAL_EXPIRED', message };
}
