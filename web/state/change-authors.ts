import type { RecordedEvent } from '../../src/protocol/events.ts';

/** Who changed a file: a tool call, a person in the editor, or null for another program. */
export type ChangeAuthor = { readonly tool: string } | 'person' | null;

type CallEvent = Extract<RecordedEvent, { type: 'call.started' | 'call.finished' }>;

/** A change is reported a moment after it was made. */
const MAX_NOTICE_DELAY_MS = 2000;
const MAX_KNOWN_CALLS = 2000;

const toolOf = new Map<string, string>();
const commands = new Map<string, { readonly tool: string; endedAt: number }>();

export function noteCall(event: CallEvent, now = Date.now()): void {
  const { callId } = event;
  const { tool } = event.data;
  toolOf.set(callId, tool);
  if (toolOf.size > MAX_KNOWN_CALLS) toolOf.delete(toolOf.keys().next().value ?? '');
  if (event.type === 'call.finished') {
    const command = commands.get(callId);
    if (command !== undefined) command.endedAt = now;
  } else if (event.data.access.some((one) => one.kind === 'process.run' && one.writes !== 'nothing')) {
    commands.set(callId, { tool, endedAt: Number.POSITIVE_INFINITY });
  }
}

/** Returns the author of a change. A change by no file tool counts as the running command's, if one may write. */
export function authorOf(callId: string | null, now = Date.now()): ChangeAuthor {
  if (callId?.startsWith('save-')) return 'person';
  const tool = callId === null ? undefined : toolOf.get(callId);
  if (tool !== undefined) return { tool };
  for (const [id, { endedAt }] of commands) if (endedAt < now - MAX_NOTICE_DELAY_MS) commands.delete(id);
  const [command] = [...commands.values()].slice(-1);
  return command === undefined ? null : { tool: command.tool };
}
