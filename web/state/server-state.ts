import { coalesce } from '../../src/kernel/coalesce.ts';
import type { ApprovalView } from '../../src/protocol/approvals.ts';
import type { StreamEvent } from '../../src/protocol/events.ts';
import type { Health } from '../../src/protocol/health.ts';
import type { PathDecisionView } from '../../src/protocol/path-decisions.ts';
import type { SessionView } from '../../src/protocol/sessions.ts';
import type { ToolView } from '../../src/protocol/tools.ts';
import { ApiProblem, api } from '../api/api.ts';
import { followEvents, type StreamState } from '../api/event-stream.ts';
import { authorOf, type ChangeAuthor, noteCall } from './change-authors.ts';
import { createFeeds } from './feeds.ts';
import { createRunTracker } from './run-tracker.ts';
import { createStore } from './store.ts';

/** The page's copy of the server's state, loaded once at the start and then kept up to date by events. */
export const connection = createStore<StreamState>('connecting');
export const health = createStore<Health | null>(null);
export const sessions = createStore<readonly SessionView[]>([]);
export const currentSession = createStore<string | null>(null);
export const approvals = createStore<readonly ApprovalView[]>([]);
export const tools = createStore<readonly ToolView[]>([]);
/** The decisions about paths of the server's workspaces, the oldest first. */
export const pathDecisions = createStore<readonly PathDecisionView[]>([]);
/** A counter that grows whenever a call is added, changes or ends, for screens that show calls of all sessions. */
export const callChanges = createStore(0);
/** The newest changes of files, a new object each time, for screens that show files. */
export const fileChanges = createStore<FileChanges | null>(null);

export interface FileChanges {
  /** The author of each change, by path. */
  readonly authors: ReadonlyMap<string, ChangeAuthor>;
  /** False when there were too many changes to list. */
  readonly complete: boolean;
}

const PAGE = 1000;
const MAX_SESSIONS = 200;
/** A bound, since the store may hold many sessions of other workspaces. */
const MAX_SESSION_PAGES = 10;
/** A long session is read from here on, counted from its end. */
const MAX_SESSION_EVENTS = 20 * PAGE;

const record = createFeeds(async (id, after) => {
  const { items } = await api('listSessionEvents', { at: { id }, query: { after, limit: PAGE } });
  return { events: items, isLast: items.length < PAGE };
});
export const feeds = record.all;
const runs = createRunTracker();

/** Follows the server's events. Returns a function that stops. */
export function followServer(): () => void {
  const waiting: StreamEvent[] = [];
  let scheduled = false;
  let wasOpen = false;
  const flush = () => {
    scheduled = false;
    applyEvents(waiting.splice(0));
  };
  const stop = followEvents({
    onState(state) {
      connection.set(state);
      if (state !== 'open') return;
      void (wasOpen ? reloadAll() : loadAll()).catch(ignore);
      // Changes of files are not sent again, so every screen that shows files has to look.
      if (wasOpen) fileChanges.set({ authors: new Map(), complete: false });
      if (wasOpen) callChanges.set((now) => now + 1);
      if (wasOpen) record.dropStreaming();
      wasOpen = true;
    },
    onEvent(event) {
      waiting.push(event);
      if (scheduled) return;
      scheduled = true;
      // Events are applied in batches: many a second cost one rendering per batch, and none is lost.
      setTimeout(flush, 30);
    },
  });
  return stop;
}

export const loadHealth = coalesce(async (): Promise<void> => health.set(await api('getHealth')));

async function loadAll(): Promise<void> {
  await Promise.all([loadHealth().then(loadSessions), loadApprovals(), loadTools(), loadPathDecisions()]);
}

async function reloadAll(): Promise<void> {
  await loadAll();
  const open = currentSession.get();
  if (open !== null) await loadSession(open);
}

const loadApprovals = coalesce(async (): Promise<void> => {
  const waiting: ApprovalView[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const query = { state: 'pending' as const, limit: 500, ...(after !== undefined && { after }) };
    const page = await api('listApprovals', { query });
    waiting.push(...page.items);
    after = page.next;
  }
  approvals.set(waiting);
});

/** Removes a request that was answered here; the server's own list arrives a moment later. */
export function forgetApproval(approval: string): void {
  approvals.set((now) => now.filter(({ id }) => id !== approval));
}

async function loadTools(): Promise<void> {
  tools.set((await api('listTools')).items);
}

export const loadPathDecisions = coalesce(async (): Promise<void> => {
  pathDecisions.set((await api('listPathDecisions')).items);
});

/** Loads the sessions of this server's workspaces. The store may hold others, which this server cannot work in. */
export const loadSessions = coalesce(async (): Promise<void> => {
  const here = new Set(health.get()?.workspaces.map(({ id }) => id));
  const own: SessionView[] = [];
  let after: string | null | undefined;
  for (let page = 0; page < MAX_SESSION_PAGES && own.length < MAX_SESSIONS && after !== null; page++) {
    const { items, next } = await api('listSessions', { query: { limit: MAX_SESSIONS, ...(after && { after }) } });
    own.push(...items.filter(({ id, workspace }) => !id.startsWith('@') && here.has(workspace ?? '')));
    after = next;
  }
  sessions.set(own.map(runs.correct));
});

/** Opens a session; a long one from its newest part on. */
export async function openSession(id: string): Promise<void> {
  currentSession.set(id);
  while (currentSession.get() === id && !feeds.get().has(id)) {
    const problem = await loadSession(id).then(ignore, (error: unknown) => error);
    if (!(problem instanceof ApiProblem) || problem.code !== 'UNREACHABLE') return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** Ignores a failed load: the next event or a new connection loads again. */
const ignore = () => undefined;
const RETRY_MS = 1000;

function loadSession(id: string): Promise<void> {
  const last = sessions.get().find((session) => session.id === id)?.lastSeq ?? 0;
  return record.read(id, Math.max(0, last - MAX_SESSION_EVENTS));
}

function applyEvents(events: readonly StreamEvent[]): void {
  record.apply(events);
  let asksChanged = false;
  for (const event of events) {
    asksChanged ||= event.type === 'approval.requested' || event.type === 'approval.decided';
    asksChanged ||= event.type === 'call.finished';
    applyOther(event);
  }
  if (events.some(({ type }) => type !== 'call.progressed' && /^(call|approval)\./.test(type))) {
    callChanges.set((now) => now + 1);
  }
  if (asksChanged) void loadApprovals().catch(ignore);
}

function applyOther(event: StreamEvent): void {
  switch (event.type) {
    case 'file.changed': {
      const { changes, complete } = event.data;
      fileChanges.set({ authors: new Map(changes.map(({ path, callId }) => [path, authorOf(callId)])), complete });
      break;
    }
    case 'call.started':
    case 'call.finished':
      noteCall(event);
      if (event.type === 'call.finished' && event.data.tool === 'person:collect') void loadSessions().catch(ignore);
      break;
    case 'mode.switched':
    case 'model.switched':
      // The event may come from another server on the same store and apply there alone.
      void loadHealth().catch(ignore);
      break;
    case 'path.decided':
    case 'path.taken_back':
      void loadPathDecisions().catch(ignore);
      break;
    case 'tool.switched':
      tools.set((now) =>
        now.map((tool) => (tool.name === event.data.tool ? { ...tool, enabled: event.data.enabled } : tool)),
      );
      break;
    case 'run.started':
    case 'run.finished': {
      const running = event.type === 'run.started';
      runs.note(event.session, running, event.seq);
      sessions.set((now) => now.map((one) => (one.id === event.session ? { ...one, running } : one)));
      break;
    }
    case 'session.created':
      void loadSessions().catch(ignore);
      break;
    case 'stream.reset':
      runs.forget();
      void reloadAll().catch(ignore);
      break;
  }
}
