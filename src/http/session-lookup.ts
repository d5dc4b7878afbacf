import type { CallRecord } from '../kernel/call/call.ts';
import type { SessionRecord } from '../kernel/call/ledger.ts';
import { externalSessionOf } from '../runtime/pipeline/record-external.ts';
import type { Backend, WorkspaceBackend } from './backend.ts';
import { type Credential, maySee } from './credentials.ts';

/** The session a request is about and the workspace it belongs to. */
export interface SessionInWorkspace {
  readonly session: string;
  readonly workspace: WorkspaceBackend;
}

interface NewSession {
  readonly workspace: WorkspaceBackend;
  readonly who: Credential;
  readonly title: string | null;
}

const MAX_KNOWN_SESSIONS = 10_000;
const OWN_SESSION_PREFIX = 'api-';

/** Finds the workspace of a session. It never changes, so it is looked up once. */
export class SessionLookup {
  readonly #backend: Backend;
  readonly #known = new Map<string, WorkspaceBackend>();
  readonly #making = new Set<string>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /**
   * Returns undefined for a session that does not exist, that the token may not see, or whose workspace is not served
   * here.
   */
  async find(session: string, who: Credential): Promise<WorkspaceBackend | undefined> {
    if (!maySee(who, session) || session.startsWith('@')) return undefined;
    const known = this.#known.get(session);
    if (known !== undefined) return known;
    const record = await this.#backend.ledger.session(session);
    const workspace = record === null ? undefined : this.#backend.workspaces.get(record.workspace ?? '');
    if (workspace !== undefined) this.#remember(session, workspace);
    return workspace;
  }

  /**
   * Returns the session of a token that names none: in the first workspace, unless it was opened in another one. Where
   * it
   * belongs to a workspace that is not served here, a second session is used. The session may not exist yet.
   */
  async own(who: Credential): Promise<SessionInWorkspace | undefined> {
    const session = who.sessions?.[0] ?? ownSession(who);
    const found = await this.find(session, who);
    if (found !== undefined) return { session, workspace: found };
    const first = firstWorkspace(this.#backend);
    if ((await this.#backend.ledger.session(session)) === null) return { session, workspace: first };
    return who.sessions === null ? { session: `${session}-${first.id}`, workspace: first } : undefined;
  }

  /** Same as `own`, and creates the session where it does not exist. */
  async openOwn(who: Credential): Promise<SessionInWorkspace | undefined> {
    const place = await this.own(who);
    if (place === undefined) return undefined;
    const { session } = place;
    const workspace = (await this.find(session, who)) ?? (await this.open(session, place.workspace, who));
    return workspace === undefined ? undefined : { session, workspace };
  }

  async open(
    session: string,
    workspace: WorkspaceBackend,
    who: Credential,
    title: string | null = null,
  ): Promise<WorkspaceBackend | undefined> {
    await this.#note(session, { workspace, who, title });
    // Another request may have been faster: the stored record counts.
    return this.find(session, who);
  }

  /**
   * Returns false when the session exists. Of several processes that create it at the same moment, only the first
   * succeeds.
   */
  async make(session: string, by: NewSession): Promise<boolean> {
    if (this.#making.has(session)) return false;
    this.#making.add(session);
    try {
      return (await this.#backend.ledger.session(session)) === null && (await this.#note(session, by)) === 1;
    } finally {
      this.#making.delete(session);
    }
  }

  /** Records the creation and returns the sequence number of that event. */
  async #note(session: string, { workspace, who, title }: NewSession): Promise<number> {
    const agent = who.role === 'agent' ? who.name : null;
    const data = { workspace: workspace.id, title, agent, by: who.name };
    const event = { type: 'session.created', callId: null, at: Date.now(), data } as const;
    return (await this.#backend.ledger.note(session, event)).seq;
  }

  /**
   * Returns the workspaces in which the token may undo a call; for a call that is not in the log, all of its
   * workspaces.
   */
  async ofCall(call: CallRecord | null, who: Credential): Promise<readonly WorkspaceBackend[]> {
    const theirs = [...(await workspacesFor(this.#backend, who)).values()];
    if (call === null) return who.sessions === null ? theirs : [];
    const byHand = theirs.filter(({ id }) => externalSessionOf(id) === call.session);
    const found = await this.find(call.session, who);
    return found === undefined ? byHand : [found];
  }

  async record(session: string, who: Credential): Promise<SessionRecord | null> {
    return maySee(who, session) ? this.#backend.ledger.session(session) : null;
  }

  #remember(session: string, workspace: WorkspaceBackend): void {
    if (this.#known.size >= MAX_KNOWN_SESSIONS) this.#known.clear();
    this.#known.set(session, workspace);
  }
}

/** Whether this is the default session of another token, whose workspace nobody else may choose. */
export function isOwnSessionOfAnother(session: string, who: Credential): boolean {
  return session.startsWith(OWN_SESSION_PREFIX) && session !== ownSession(who) && who.sessions === null;
}

function ownSession({ name }: Credential): string {
  return `${OWN_SESSION_PREFIX}${name}`;
}

/** Returns the workspaces of the sessions the token is limited to, or all for a token without a limit. */
export async function workspacesFor(
  { workspaces, ledger }: Backend,
  { sessions }: Credential,
): Promise<ReadonlyMap<string, WorkspaceBackend>> {
  if (sessions === null) return workspaces;
  const records = await Promise.all(sessions.map((each) => ledger.session(each)));
  const theirs = new Set(records.map((record) => record?.workspace));
  return new Map([...workspaces].filter(([id]) => theirs.has(id)));
}

export function firstWorkspace({ workspaces }: Backend): WorkspaceBackend {
  const [first] = workspaces.values();
  if (first === undefined) throw new Error('a server has at least one workspace');
  return first;
}
