import { type CallRecord, isFinal } from '../../kernel/call/call.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Event, LogEvent } from '../../kernel/call/event.ts';
import { failed, succeeded, type ToolResult } from '../../kernel/tool/tool-result.ts';
import { type CallScope, eitherOf } from '../call-scope.ts';
import { digestOf } from '../pipeline/digest.ts';
import { Interruption, interruptible } from '../pipeline/interruption.ts';
import type { Runtime } from '../runtime.ts';
import { tellCaller } from '../tell-caller.ts';

/**
 * The answer to a request whose key was used before: that of the first call, as soon as it is there. Nothing runs
 * twice; a call that its process left behind is resumed. Cancelling this request leaves the first call alone.
 */
export async function answerOfEarlier(
  rt: Runtime,
  call: CallScope,
  earlier: CallRecord,
  resume: (queued: CallRecord) => Promise<ToolResult>,
): Promise<ToolResult> {
  const { toolName: tool } = call;
  // Whoever lost a takeover has the arguments of the record, where those as they run may stand, and has been told.
  const isFirst = call.request.resume === undefined;
  if (isFirst && isAnother(call, earlier)) {
    const what = earlier.tool === tool ? 'with other arguments' : `for ${earlier.tool}`;
    const message = `The key ${shown(call.request.key)} was used before, ${what}, so nothing ran. Give every call a key of its own; repeat a key only with the same request.`;
    return failed(tool, { code: 'CONFLICT', message, details: { key: call.request.key } }, { callId: earlier.id });
  }
  if (call.request.orLeave && !isFinal(earlier.state)) {
    const message = `${tool} was taken over elsewhere first; how it ends is in its record.`;
    return failed(tool, { code: 'CONFLICT', message }, { callId: earlier.id });
  }
  if (isFirst) tellCaller(rt, call.request, earlier.id);
  try {
    const now = isOver(earlier) ? earlier : await over(rt, call, earlier);
    if (!('state' in now)) return now;
    return now.state === 'queued' ? await resume(now) : recordedResult(now);
  } catch (thrown) {
    const cancelled = Interruption.is(thrown);
    const message = cancelled
      ? `The wait for an earlier call of ${tool} was cancelled; that call goes on.`
      : `What became of an earlier call of ${tool} cannot be told: ${messageOf(thrown)}`;
    return failed(tool, { code: cancelled ? 'CANCELLED' : 'INTERNAL', message }, { callId: earlier.id });
  }
}

function isAnother(call: CallScope, earlier: CallRecord): boolean {
  const digest = call.request.isIncomplete ? undefined : digestOfRequest(call);
  return earlier.digest === undefined || digest === undefined
    ? earlier.tool !== call.toolName
    : earlier.digest !== digest;
}

/** In front of the digest of a dry run: it is another request, and stays one when another process takes it over. */
export const DRY_RUN = 'dry-run:';

/** Undefined for arguments that have no canonical form; those are not compared. */
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

function over(
  rt: Runtime,
  { cancelSignal, request }: CallScope,
  earlier: CallRecord,
): Promise<CallRecord | ToolResult> {
  const wait = untilOver(rt, earlier);
  return interruptible(wait.over, undefined, eitherOf(cancelSignal, request.patience)).finally(wait.stop);
}

interface Wait {
  /** The earlier call once it is over or waits to be taken over, or its result where its end could not be recorded. */
  readonly over: Promise<CallRecord | ToolResult>;
  /** Nothing is heard and nobody looked after from then on. */
  stop(): void;
}

function untilOver(rt: Runtime, call: CallRecord): Wait {
  const stops: (() => void)[] = [];
  const over = new Promise<CallRecord | ToolResult>((resolve, reject) => {
    stops.push(rt.store.follow === undefined ? rt.bus.on(heard) : rt.store.follow(heard));
    stops.push(rt.waiting.add(call.id, resolve));
    const recovering = recoverNowAndThen(rt);
    stops.push(() => clearInterval(recovering));
    look().catch(reject);

    function heard({ callId }: Event | LogEvent): void {
      if (callId === call.id) look().catch(reject);
    }
    async function look(): Promise<void> {
      const now = await rt.store.call(call.id);
      if (now === null) reject(new Error('its record is gone'));
      else if (isOver(now)) resolve(now);
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

/** The process that has the call may have ended, or may end while we wait: then nobody else might look after it. */
function recoverNowAndThen(rt: Runtime): NodeJS.Timeout | undefined {
  if (rt.store.recover === undefined) return undefined;
  const recover = async () => {
    try {
      await rt.store.recover?.();
    } catch (error) {
      rt.log.warn({}, `Calls that ended processes left behind cannot be recovered now: ${messageOf(error)}`);
    }
  };
  void recover();
  return setInterval(recover, RECOVER_MS);
}

function isOver({ state }: CallRecord): boolean {
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
