import type { RecordedEvent } from '../../src/protocol/events.ts';

/** Who changed a file: a tool of the agent's or of a person's, a person in the editor, or null, another program. */
export type Changer = { readonly tool: string } | 'person' | null;

type CallEvent = Extract<RecordedEvent, { type: 'call.started' | 'call.finished' }>;

/** A change is told a moment after it was made. */
const LATE_MS = 2000;
const MOST_KNOWN = 2000;

const toolOf = new Map<string, string>();
const commands = new Map<string, { readonly tool: string; endedAt: number }>();

export function noteCall(event: CallEvent, now = Date.now()): void {
  const { callId } = event;
  const { tool } = event.data;
  toolOf.set(callId, tool);
  if (toolOf.size > MOST_KNOWN) toolOf.delete(toolOf.keys().next().value ?? '');
  if (event.type === 'call.finished') {
    const command = commands.get(callId);
    if (command !== undefined) command.endedAt = now;
  } else if (event.data.access.some((one) => one.kind === 'process.run' && one.writes !== 'nothing')) {
    commands.set(callId, { tool, endedAt: Number.POSITIVE_INFINITY });
  }
}

/** A change that no file tool made, while a command may write, is taken for the command's. */
export function changerOf(callId: string | null, now = Date.now()): Changer {
  if (callId?.startsWith('save-')) return 'person';
  const tool = callId === null ? undefined : toolOf.get(callId);
  if (tool !== undefined) return { tool };
  for (const [id, { endedAt }] of commands) if (endedAt < now - LATE_MS) commands.delete(id);
  const [command] = [...commands.values()].slice(-1);
  return command === undefined ? null : { tool: command.tool };
}
