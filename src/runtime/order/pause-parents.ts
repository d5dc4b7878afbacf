import type { Tool } from '../../kernel/tool/tool.ts';
import type { CallScope } from '../pipeline/call-scope.ts';
import type { AccessLocks } from './access-locks.ts';

/**
 * Lets the calls around this one wait for a person: their timeouts stand still until the returned function is called.
 * A call that only waits for its changes to be kept gives its place in the order back, so that it holds up nobody.
 */
export function pauseParents(locks: AccessLocks, call: CallScope, { madeBy }: Tool): () => void {
  const parents: CallScope[] = [];
  for (let at = call.request.parent; at !== undefined; at = at.request.parent) parents.push(at);
  for (const parent of parents) {
    parent.pauseTimer();
    if (madeBy === 'runtime' && parent.ticket !== undefined) locks.release(parent.ticket);
  }
  return () => {
    for (const parent of parents) parent.resumeTimer();
  };
}
