import type { ApprovalView } from '../../src/protocol/approvals.ts';
import type { StreamEvent } from '../../src/protocol/events.ts';
import type { Health } from '../../src/protocol/health.ts';
import type { SessionView } from '../../src/protocol/sessions.ts';
import type { ToolView } from '../../src/protocol/tools.ts';
import { ApiProblem, api } from '../api/api.ts';
import { type Connection, followEvents } from '../api/event-stream.ts';
import { type Changer, changerOf, noteCall } from './change-authors.ts';
import { createFeeds } from './feeds.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { createRuns } from './run-tracker.ts';
import { createStore } from './store.ts';

/** What the page knows of the server. Filled once at the start, then by events. */
export const connection = createStore<Connection>('connecting');
export const health = createStore<Health | null>(null);
export const sessions = createStore<readonly SessionView[]>([]);
export const currentSession = createStore<string | null>(null);
export const approvals = createStore<readonly ApprovalView[]>([]);
export const tools = createStore<readonly ToolView[]>([]);
/** Grows whenever some call came, moved on or ended, for whoever shows calls of all sessions. */
export const callChanges = createStore(0);
/** The newest changes of files, for whoever shows files. A new object for each. */
export const fileChanges = createStore<FileChanges | null>(null);

export interface FileChanges {
  /** By path. */
  readonly by: ReadonlyMap<string, Changer>;
  /** False: too many to name. */
  readonly complete: boolean;
}

const PAGE = 1000;
const SESSIONS = 200;
/** The store may know of many sessions of other workspaces. */
const MOST_PAGES = 10;
/** Of a long session, its newest part. */
const MOST_READ = 20 * PAGE;

const record = createFeeds(async (id, after) => {
  const { items } = await api('listSessionEvents', { at: { id }, query: { after, limit: PAGE } });
  return { events: items, isLast: items.length < PAGE };
});
export const feeds = record.all;
const runs = createRuns();

/** Starts to follow; returns how to stop. */
export function follow(): () => void {
  const waiting: StreamEvent[] = [];
  let scheduled = false;
  let wasOpen = false;
  const flush = () => {
    scheduled = false;
    takeAll(waiting.splice(0));
  };
  const stop = followEvents({
    onState(state) {
      connection.set(state);
      if (state !== 'open') return;
      void refresh(wasOpen).catch(ignore);
      // Changes of files are not told again: whoever shows one looks.
      if (wasOpen) fileChanges.set({ by: new Map(), complete: false });
      if (wasOpen) callChanges.set((now) => now + 1);
      if (wasOpen) record.dropStreaming();
      wasOpen = true;
    },
    onEvent(event) {
      waiting.push(event);
      if (scheduled) return;
      scheduled = true;
      // A frame at a time: many events a second cost one rendering each frame, and none is lost.
      setTimeout(flush, 30);
    },
  });
  return stop;
}

export const loadHealth = oneAtATime(async (): Promise<void> => health.set(await api('getHealth')));

async function refresh(again: boolean): Promise<void> {
  await Promise.all([loadHealth().then(loadSessions), loadApprovals(), loadTools()]);
  const open = currentSession.get();
  if (again && open !== null) await loadSession(open);
}

const loadApprovals = oneAtATime(async (): Promise<void> => {
  const waiting: ApprovalView[] = [];
  for (let after: string | null | undefined; after !== null; ) {
    const query = { state: 'pending' as const, limit: 500, ...(after !== undefined && { after }) };
    const page = await api('listApprovals', { query });
    waiting.push(...page.items);
    after = page.next;
  }
  approvals.set(waiting);
});

/** A question that was answered here: the list from the server comes a moment later. */
export function forget(approval: string): void {
  approvals.set((now) => now.filter(({ id }) => id !== approval));
}

async function loadTools(): Promise<void> {
  tools.set((await api('listTools')).items);
}

/** Those of this server's workspaces: in others, which the store may know of as well, nothing can be done here. */
export const loadSessions = oneAtATime(async (): Promise<void> => {
  const here = new Set(health.get()?.workspaces.map(({ id }) => id));
  const own: SessionView[] = [];
  let after: string | null | undefined;
  for (let page = 0; page < MOST_PAGES && own.length < SESSIONS && after !== null; page++) {
    const { items, next } = await api('listSessions', { query: { limit: SESSIONS, ...(after && { after }) } });
    own.push(...items.filter(({ id, workspace }) => !id.startsWith('@') && here.has(workspace ?? '')));
    after = next;
  }
  sessions.set(own.map(runs.upToDate));
});

/** Opens a session; of a long one, its newest part. */
export async function openSession(id: string): Promise<void> {
  currentSession.set(id);
  while (currentSession.get() === id && !feeds.get().has(id)) {
    const problem = await loadSession(id).then(ignore, (error: unknown) => error);
    if (!(problem instanceof ApiProblem) || problem.code !== 'UNREACHABLE') return;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

/** The next event, or the line when it comes back, has it loaded again. */
const ignore = () => undefined;
const RETRY_MS = 1000;

function loadSession(id: string): Promise<void> {
  const last = sessions.get().find((session) => session.id === id)?.lastSeq ?? 0;
  return record.read(id, Math.max(0, last - MOST_READ));
}

function takeAll(events: readonly StreamEvent[]): void {
  record.take(events);
  let asksChanged = false;
  for (const event of events) {
    asksChanged ||= event.type === 'approval.requested' || event.type === 'approval.decided';
    asksChanged ||= event.type === 'call.finished';
    takeOther(event);
  }
  if (events.some(({ type }) => type !== 'call.progressed' && /^(call|approval)\./.test(type))) {
    callChanges.set((now) => now + 1);
  }
  if (asksChanged) void loadApprovals().catch(ignore);
}

function takeOther(event: StreamEvent): void {
  switch (event.type) {
    case 'file.changed': {
      const { changes, complete } = event.data;
      fileChanges.set({ by: new Map(changes.map(({ path, callId }) => [path, changerOf(callId)])), complete });
      break;
    }
    case 'call.started':
    case 'call.finished':
      noteCall(event);
      break;
    case 'mode.switched':
    case 'model.switched':
      // It may be of another server on the same store, and hold there alone.
      void loadHealth().catch(ignore);
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
      void refresh(true).catch(ignore);
      break;
  }
}
