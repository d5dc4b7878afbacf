import type { CallView } from '../../src/protocol/calls.ts';
import type { KeptChangesView } from '../../src/protocol/changes.ts';
import { commandOfKeeping } from '../../src/protocol/command-of-keeping.ts';
import { exitCodeIn, notesIn, wentWell, wholeOutputOf } from '../../src/protocol/command-value.ts';
import type { RecordedEvent, StreamEvent } from '../../src/protocol/events.ts';
import { type SecretPath, secretPathOf } from '../../src/protocol/secret-path.ts';

/** The state of a call as shown to a person. One value covers all, so that no two states show at once. */
export type Phase = 'waiting' | 'queued' | 'running' | 'done' | 'failed' | 'denied' | 'cancelled';

export interface CallItem {
  readonly kind: 'call';
  readonly id: string;
  readonly seq: number;
  readonly tool: string;
  readonly args: unknown;
  readonly summary: string;
  readonly phase: Phase;
  readonly state: CallView['state'];
  readonly requestedAt: number;
  readonly startedAt: number | null;
  readonly durationMs: number | null;
  /** The newest lines while it runs. */
  readonly live: string;
  readonly text: string;
  readonly errorCode: string | null;
  /** The path that it was refused as a secret. */
  readonly secret: SecretPath | null;
  readonly approvalId: string | null;
  readonly decidedBy: string | null;
  readonly changed: readonly string[];
  /** The text for the model was cut by the runtime, so a view of the value may be too long. */
  readonly cut: boolean;
  /** The whole output can be downloaded. */
  readonly hasWhole: boolean;
  /** The exit code of a command that has ended. */
  readonly exitCode: number | null;
  /** Hints and other information beside the output of a command. */
  readonly notes: readonly string[];
  /** Whether the changes of a command were kept; null where there were none. */
  readonly kept: KeptChangesView | null;
  /** The call inside a command that decides about its changes, and the question about them. */
  readonly keeping: { readonly callId: string; readonly approvalId: string | null } | null;
  /** The call may have changed files of the workspace, so it can be undone. */
  readonly writes: boolean;
}

export interface MessageItem {
  readonly kind: 'message';
  readonly id: string;
  readonly seq: number;
  readonly role: 'user' | 'assistant' | 'notice';
  readonly text: string;
  readonly at: number;
  /** For a notice about a run, instead of a text. */
  readonly run?: { readonly kind: 'scripted' | 'stopped' | 'budget' | 'loop' | 'refused' | 'failed' };
}

export type FeedItem = CallItem | MessageItem;

/** One session as shown: its items in order, and the sequence number read so far. */
export interface Feed {
  readonly items: readonly FeedItem[];
  /** The unfinished text of the model. */
  readonly streaming: string;
  readonly seq: number;
  /** Live output of calls not recorded yet: progress events may arrive before the recorded ones. */
  readonly early: ReadonlyMap<string, string>;
}

export const EMPTY_FEED: Feed = { items: [], streaming: '', seq: 0, early: new Map() };

const MAX_LIVE_CHARS = 16_000;
const MAX_EARLY_CALLS = 20;

/** Applies an event. An event that was applied before changes nothing, so replays and overlaps are harmless. */
export function applyEvent(feed: Feed, event: StreamEvent): Feed {
  if (event.type === 'call.progressed') return progressed(feed, event);
  if (event.type === 'message.streamed') return streamed(feed, event.data);
  if (!('seq' in event)) return feed;
  const streaming = event.type === 'message.added' || event.type === 'run.finished' ? '' : feed.streaming;
  // The record may be ahead of the stream: the finished message is known, and its streamed text has to go.
  if (event.seq <= feed.seq) return streaming === feed.streaming ? feed : { ...feed, streaming };
  const next = { ...feed, items: itemsAfter(feed.items, event), streaming, seq: event.seq };
  return event.type === 'call.requested' ? withEarly(next, event.callId) : next;
}

function withEarly(feed: Feed, callId: string): Feed {
  const live = feed.early.get(callId);
  if (live === undefined) return feed;
  const early = new Map(feed.early);
  early.delete(callId);
  return { ...feed, early, items: change(feed.items, callId, { live }) };
}

function itemsAfter(items: readonly FeedItem[], event: RecordedEvent): readonly FeedItem[] {
  const command = commandOf(items, event);
  if (command !== undefined) return afterKeeping(items, command, event);
  switch (event.type) {
    case 'message.added': {
      const { messageId, role, text } = event.data;
      return [...items, { kind: 'message', id: messageId, seq: event.seq, role, text, at: event.at }];
    }
    case 'run.started':
      return event.data.scripted ? [...items, notice(event, { kind: 'scripted' })] : items;
    case 'run.finished': {
      const { reason, message } = event.data;
      if (reason === 'done') return items;
      // The notice itself says that a person stopped the run; the server's message would repeat it.
      return [...items, notice(event, { kind: reason }, reason === 'stopped' ? '' : message)];
    }
    case 'call.requested':
      return [...items, newCall(event)];
    case 'call.requeued':
    case 'call.resumed':
      return change(items, event.callId, { phase: 'queued', state: 'queued' });
    case 'approval.requested':
      return change(items, event.callId, {
        phase: 'waiting',
        state: 'awaiting_approval',
        approvalId: event.data.approvalId,
        args: event.data.args,
        ...(event.data.shown !== undefined && { summary: event.data.shown.summary }),
      });
    case 'approval.decided':
      return change(items, event.callId, {
        phase: event.data.approved ? 'queued' : 'denied',
        decidedBy: event.data.by ?? '',
        changed: event.data.changed ?? [],
      });
    case 'call.started':
      return change(items, event.callId, {
        phase: 'running',
        state: 'running',
        args: event.data.args,
        summary: event.data.summary,
        startedAt: event.at,
        // Collected changes are not in the workspace yet.
        writes:
          event.data.collected !== true &&
          event.data.access.some(({ kind }) => kind === 'fs.write' || kind === 'fs.delete'),
      });
    case 'call.finished': {
      const { outcome, state, durationMs } = event.data;
      return change(items, event.callId, {
        phase: phaseOf({ state, outcome }),
        state,
        durationMs,
        live: '',
        text: outcome.ok ? outcome.text : (outcome.error?.message ?? outcome.text),
        errorCode: outcome.error?.code ?? null,
        secret: secretPathOf(outcome.error?.details),
        cut: outcome.artifact !== undefined,
        hasWhole: wholeOutputOf(outcome) !== undefined,
        ...effectOf(outcome.value),
      });
    }
    default:
      return items;
  }
}

/** The command that an event of its keeping call belongs to: such a call has no card of its own. */
function commandOf(items: readonly FeedItem[], event: RecordedEvent): CallItem | undefined {
  if (event.callId === null) return undefined;
  const id = event.type === 'call.requested' ? commandOfKeeping(event.data) : undefined;
  const isIt = (item: FeedItem): item is CallItem =>
    item.kind === 'call' && (item.id === id || item.keeping?.callId === event.callId);
  return items.findLast(isIt);
}

function afterKeeping(items: readonly FeedItem[], { id }: CallItem, event: RecordedEvent): readonly FeedItem[] {
  switch (event.type) {
    case 'call.requested':
      return change(items, id, { keeping: { callId: event.callId, approvalId: null } });
    case 'approval.requested': {
      const { approvalId } = event.data;
      const keeping = { callId: event.callId, approvalId };
      // Changes that were left over or collected are decided about when the call is over.
      return change(items, id, (call) => (isOver(call) ? { keeping } : { phase: 'waiting', keeping }));
    }
    case 'approval.decided':
      return change(items, id, (call) => (isOver(call) ? {} : { phase: 'running', decidedBy: event.data.by ?? '' }));
    default:
      return items;
  }
}

function notice(event: RecordedEvent, run: NonNullable<MessageItem['run']>, text = ''): MessageItem {
  return { kind: 'message', id: `run-${event.seq}`, seq: event.seq, role: 'notice', text, at: event.at, run };
}

function streamed(feed: Feed, { kind, text }: { kind: string; text: string }): Feed {
  if (kind === 'restarted') return { ...feed, streaming: '' };
  return kind === 'text' ? { ...feed, streaming: feed.streaming + text } : feed;
}

function newCall(event: Extract<RecordedEvent, { type: 'call.requested' }>): CallItem {
  return {
    kind: 'call',
    id: event.callId,
    seq: event.seq,
    tool: event.data.tool,
    args: event.data.args,
    summary: event.data.tool,
    phase: 'queued',
    state: 'requested',
    requestedAt: event.at,
    startedAt: null,
    durationMs: null,
    live: '',
    text: '',
    errorCode: null,
    secret: null,
    approvalId: null,
    decidedBy: null,
    changed: [],
    cut: false,
    hasWhole: false,
    exitCode: null,
    notes: [],
    kept: null,
    keeping: null,
    writes: false,
  };
}

/** The exit code, the notes and the changes in the value of a command; nothing for other calls. */
function effectOf(value: unknown): Pick<CallItem, 'exitCode' | 'notes' | 'kept'> {
  const { changed } = (value ?? {}) as { changed?: KeptChangesView | null };
  const isKept = typeof changed === 'object' && changed !== null && 'state' in changed;
  return {
    exitCode: exitCodeIn(value),
    notes: notesIn(value),
    kept: isKept && changed.state !== 'nothing changed' ? changed : null,
  };
}

function progressed(feed: Feed, event: Extract<StreamEvent, { type: 'call.progressed' }>): Feed {
  const more = event.data.output ?? (event.data.message === undefined ? '' : `${event.data.message}\n`);
  if (more === '') return feed;
  const add = (live: string) => (live + more).slice(-MAX_LIVE_CHARS);
  const items = change(feed.items, event.callId, (call) => (isOver(call) ? {} : { live: add(call.live) }));
  if (items !== feed.items) return { ...feed, items };
  const known = [...feed.early].filter(([id]) => id !== event.callId).slice(-MAX_EARLY_CALLS);
  return { ...feed, early: new Map([...known, [event.callId, add(feed.early.get(event.callId) ?? '')]]) };
}

export function isOver({ phase }: CallItem): boolean {
  return phase === 'done' || phase === 'failed' || phase === 'denied' || phase === 'cancelled';
}

/** Searches from the newest item, since an event is about something recent. */
function change(
  items: readonly FeedItem[],
  callId: string,
  to: Partial<CallItem> | ((call: CallItem) => Partial<CallItem>),
): readonly FeedItem[] {
  const index = items.findLastIndex((item) => item.kind === 'call' && item.id === callId);
  const call = items[index];
  if (call?.kind !== 'call') return items;
  return items.with(index, { ...call, ...(typeof to === 'function' ? to(call) : to) });
}

/** A command with an exit code other than 0 is shown as failed, although its call succeeded. */
export function phaseOf({ state, outcome }: Pick<CallView, 'state' | 'outcome'>): Phase {
  switch (state) {
    case 'awaiting_approval':
      return 'waiting';
    case 'requested':
    case 'queued':
      return 'queued';
    case 'running':
      return 'running';
    case 'succeeded':
      return outcome === null || wentWell(outcome) ? 'done' : 'failed';
    case 'denied':
    case 'expired':
      return 'denied';
    case 'cancelled':
    case 'interrupted':
      return 'cancelled';
    case 'failed':
    case 'timed_out':
      return 'failed';
  }
}
