import { messageOf } from '../kernel/error.ts';
import type { CallRequest } from './call-scope.ts';
import type { Runtime } from './runtime.ts';

/** Whose callback it is must not decide whether the call runs. */
export function tellCaller(rt: Runtime, { onRecorded }: CallRequest, id: string): void {
  try {
    onRecorded?.(id);
  } catch (error) {
    rt.log.error({ callId: id }, `Whoever asked for the call could not be told: ${messageOf(error)}`);
  }
}
