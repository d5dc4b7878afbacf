import { type CallRecord, isFinal } from '../../kernel/call/call.ts';
import type { Event, LogEvent } from '../../kernel/call/event.ts';
import { messageOf } from '../../kernel/error.ts';
import { failed, succeeded, type ToolResult } from '../../kernel/tool/tool-result.ts';
import { anySignal, type CallScope } from '../pipeline/call-scope.ts';
import { digestOf } from '../pipeline/digest.ts';
import { Interruption, interruptible } from '../pipeline/interruption.ts';
import { notifyCaller } from '../pipeline/record.ts';
import type { Runtime } from '../runtime.ts';

/**
 * Returns the result of the earlier call with the same key, as soon as it is there. Nothing runs twice; a call of an
 * ended process is resumed. Cancelling this request does not affect the earlier call.
 */
export async function answerOfEarlier(
  rt: Runtime,
  call: CallScope,
  earlier: CallRecord,
  resume: (queued: CallRecord) => Promise<ToolResult>,
): Promise<ToolResult> {
  const { toolName: tool } = call;
  // After a lost takeover the arguments come from the record, perhaps as they run, and the caller knows the id.
  const isFirst = call.request.resume === undefined;
  if (isFirst && isOtherRequest(call, earlier)) {
    const what = earlier.tool === tool ? 'with other arguments' : `for ${earlier.tool}`;
    const message = `The key ${shown(call.request.key)} was used before, ${what}, so nothing ran. Give every call a key of its own; repeat a key only with the same request.`;
    return failed(tool, { code: 'CONFLICT', message, details: { key: call.request.key } }, { callId: earlier.id });
  }
  if (call.request.orLeave && !isFinal(earlier.state)) {
    const message = `Another process took over ${tool} first; its record will hold the result.`;
    return failed(tool, { code: 'CONFLICT', message }, { callId: earlier.id });
  }
  if (isFirst) notifyCaller(rt, call.request, earlier.id);
  try {
    const now = hasSettled(earlier) ? earlier : await waitForEarlier(rt, call, earlier);
    if (!('state' in now)) return now;
    return now.state === 'queued' ? await resume(now) : recordedResult(now);
  } catch (thrown) {
    const cancelled = Interruption.is(thrown);
    const message = cancelled
      ? `The wait for an earlier call of ${tool} was cancelled; that call continues.`
      : `The result of an earlier call of ${tool} is not available: ${messageOf(thrown)}`;
    return failed(tool, { code: cancelled ? 'CANCELLED' : 'INTERNAL', message }, { callId: earlier.id });
  }
}

function isOtherRequest(call: CallScope, earlier: CallRecord): boolean {
  const digest = call.request.isIncomplete ? undefined : digestOfRequest(call);
  return earlier.digest === undefined || digest === undefined
    ? earlier.tool !== call.toolName
    : earlier.digest !== digest;
}

/** The prefix of a dry run's digest: it is another request, and stays a dry run when another process takes it over. */
export const DRY_RUN = 'dry-run:';

/** Returns undefined for arguments without a canonical form; they are not compared. */
export function digestOfRequest({ toolName, args, session, context }: CallScope): string | undefined {
  try {
    const digest = digestOf(toolName, args, { session, workspace: '', seen: {} });
    return context.dryRun ? `${DRY_RUN}${digest}` : digest;
  } catch {
    return context.dryRun ? DRY_RUN : undefined;
  }
}

function shown(key: string | undefined): string {
  const text = key ?? '';
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}

function waitForEarlier(
  rt: Runtime,
  { cancelSignal, request }: CallScope,
  earlier: CallRecord,
): Promise<CallRecord | ToolResult> {
  const wait = untilOver(rt, earlier);
  return interruptible(wait.over, undefined, anySignal(cancelSignal, request.patience)).finally(wait.stop);
}

interface EarlierCallWait {
  /** The earlier call once it has ended or is queued, or its result if the end could not be recorded. */
  readonly over: Promise<CallRecord | ToolResult>;
  /** Stops following events and recovering calls. */
  stop(): void;
}

function untilOver(rt: Runtime, call: CallRecord): EarlierCallWait {
  const stops: (() => void)[] = [];
  const over = new Promise<CallRecord | ToolResult>((resolve, reject) => {
    stops.push(rt.store.follow === undefined ? rt.bus.on(heard) : rt.store.follow(heard));
    stops.push(rt.waiters.add(call.id, resolve));
    const recovering = recoverPeriodically(rt);
    stops.push(() => clearInterval(recovering));
    look().catch(reject);

    function heard({ callId }: Event | LogEvent): void {
      if (callId === call.id) look().catch(reject);
    }
    async function look(): Promise<void> {
      const now = await rt.store.call(call.id);
      if (now === null) reject(new Error('its record is gone'));
      else if (hasSettled(now)) resolve(now);
    }
  });
  return {
    over,
    stop() {
      for (const stop of stops) stop();
    },
  };
}

const RECOVER_MS = 2000;

/** Recovers calls now and periodically: the process of the earlier call may end, and no other might notice. */
function recoverPeriodically(rt: Runtime): NodeJS.Timeout | undefined {
  if (rt.store.recover === undefined) return undefined;
  const recover = async () => {
    try {
      await rt.store.recover?.();
    } catch (error) {
      rt.log.warn({}, `Calls of ended processes cannot be recovered now: ${messageOf(error)}`);
    }
  };
  void recover();
  return setInterval(recover, RECOVER_MS);
}

function hasSettled({ state }: CallRecord): boolean {
  return isFinal(state) || state === 'queued';
}

function recordedResult(call: CallRecord): ToolResult {
  const { outcome } = call;
  const extras = {
    callId: call.id,
    text: outcome?.text ?? '',
    warnings: outcome?.warnings ?? [],
    metadata: { ...outcome?.metadata, repeated: true },
  };
  if (outcome?.ok) return succeeded(outcome.value, extras);
  const error = outcome?.error ?? { code: 'INTERNAL' as const, message: 'The record of this call has no outcome.' };
  return failed(call.tool, error, extras);
}
