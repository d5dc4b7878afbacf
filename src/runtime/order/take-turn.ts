import type { Access } from '../../kernel/tool/access.ts';
import type { CallScope, Turn } from '../pipeline/call-scope.ts';
import { interruptible } from '../pipeline/interruption.ts';
import type { AccessLocks } from './access-locks.ts';

/**
 * Takes the ticket of a call and waits for earlier calls that conflict with it. Returns undefined when the call may go at
 * once.
 */
export function takeTurn(locks: AccessLocks, call: CallScope, access: readonly Access[]): Promise<void> | undefined {
  const { turn } = call.request;
  if (turn !== undefined) return waitForEarlier(locks, call, { access, turn });
  return takeTicket(locks, call, access);
}

/** Waits for conflicting calls of its batch, which may await approval, before it takes a ticket among all calls. */
async function waitForEarlier(
  locks: AccessLocks,
  call: CallScope,
  { access, turn }: { access: readonly Access[]; turn: Turn },
): Promise<void> {
  await interruptible(turn.wait(access), undefined, call.cancelSignal);
  await takeTicket(locks, call, access);
}

function takeTicket(locks: AccessLocks, call: CallScope, access: readonly Access[]): Promise<void> | undefined {
  if (access.length === 0) return undefined;
  call.ticket = locks.take(access, call.context.workingDir, call.request.parent?.ticket);
  const before = locks.turn(call.ticket);
  return before && interruptible(before, undefined, call.cancelSignal);
}
