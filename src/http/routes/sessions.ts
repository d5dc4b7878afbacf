import { randomUUID } from 'node:crypto';
import type { SessionRecord } from '../../kernel/call/ledger.ts';
import type { MessageView } from '../../protocol/sessions.ts';
import type { Backend } from '../backend.ts';
import { maySee } from '../credentials.ts';
import { type Handlers, json } from '../handler.ts';
import { failureResponse, refuse } from '../problem.ts';
import { firstWorkspace, isOwnSessionOfAnother, SessionLookup, workspacesFor } from '../session-lookup.ts';
import { sessionView } from '../views.ts';

type SessionHandlers = Pick<
  Handlers,
  | 'startDemo'
  | 'createSession'
  | 'listSessions'
  | 'getSession'
  | 'listMessages'
  | 'sendMessage'
  | 'stopSession'
  | 'listSessionEvents'
>;

export function sessionRoutes(backend: Backend): SessionHandlers {
  const { ledger, runner } = backend;
  const places = new SessionLookup(backend);
  const view = (session: SessionRecord) =>
    sessionView(session, {
      running: runner.running(session.id),
      collects: backend.workspaces.get(session.workspace ?? '')?.changes.collects(session.id) ?? false,
    });

  return {
    async createSession({ body, who }) {
      const id = body.id ?? randomUUID();
      if (!maySee(who, id)) return refuse('FORBIDDEN', 'Your token is limited to other sessions.');
      if (isOwnSessionOfAnother(id, who)) return refuse('FORBIDDEN', OF_ANOTHER);
      const first = firstWorkspace(backend);
      const theirs = new Map([[first.id, first], ...(await workspacesFor(backend, who))]);
      const workspace = theirs.get(body.workspace ?? first.id);
      if (workspace === undefined) return refuse('NOT_FOUND', `Unknown workspace ${body.workspace}.`);
      const isMade = await places.make(id, { workspace, who, title: body.title ?? null });
      if (!isMade) return refuse('CONFLICT', `Session ${id} already exists.`);
      const opened = await ledger.session(id);
      return opened === null ? refuse('INTERNAL', 'The session could not be recorded.') : json(view(opened), 201);
    },

    async startDemo({ who }) {
      const id = `demo-${randomUUID().slice(0, 8)}`;
      if (!maySee(who, id)) return refuse('FORBIDDEN', 'Your token is limited to other sessions.');
      const workspace = firstWorkspace(backend);
      const may = runner.mayPlayDemo(workspace.id);
      if (!may.ok) return failureResponse(may.error);
      await places.open(id, workspace, who, 'Demo (scripted)');
      const started = await runner.demo(id, who.name);
      return started.ok ? json({ session: id }, 202) : failureResponse(started.error);
    },

    async listSessions({ query, who }) {
      const { after, limit } = query;
      const page = await ledger.sessions({ newestFirst: true, limit, ...(after !== undefined && { after }) });
      const items = page.items.filter(({ id }) => !id.startsWith('@') && maySee(who, id)).map(view);
      return json({ items, next: page.next });
    },

    async getSession({ params, who }) {
      const session = await places.record(params.id ?? '', who);
      return session === null ? unknown() : json(view(session));
    },

    async listMessages({ params, who }) {
      const session = await places.record(params.id ?? '', who);
      if (session === null) return unknown();
      const items: MessageView[] = [];
      for (let page = await ledger.events(session.id, 0, PAGE); ; ) {
        for (const { type, data, at, seq } of page) {
          if ((type as string) !== 'message.added') continue;
          const { messageId, role, text, callIds = [], by = null } = data as unknown as SentMessage;
          items.push({ id: messageId, role, text, at, seq, callIds: [...callIds], by });
        }
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) return json({ items });
        page = await ledger.events(session.id, last.seq, PAGE);
      }
    },

    async sendMessage({ params, who, body }) {
      const id = params.id ?? '';
      if ((await places.find(id, who)) === undefined) return unknown();
      const sent = await runner.send(id, body.text, who.name);
      return sent.ok ? json({ accepted: true }, 202) : failureResponse(sent.error);
    },

    async stopSession({ params, who }) {
      const id = params.id ?? '';
      if ((await places.find(id, who)) === undefined) return unknown();
      const stopped = await runner.stop(id);
      return stopped.ok ? json({ accepted: true }, 202) : failureResponse(stopped.error);
    },

    async listSessionEvents({ params, who, query }) {
      const session = await places.record(params.id ?? '', who);
      if (session === null) return unknown();
      return json({ items: await ledger.events(session.id, query.after, query.limit) });
    },
  };
}

/** Page size: between messages a session has results of tools, too large to load all at once. */
const PAGE = 200;
const OF_ANOTHER = 'A session id that begins with api- belongs to another token: choose another id.';

interface SentMessage {
  messageId: string;
  role: MessageView['role'];
  text: string;
  callIds?: readonly string[];
  by?: string | null;
}

function unknown(): Response {
  return refuse('NOT_FOUND', 'Unknown session.');
}
