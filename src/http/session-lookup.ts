import type { CallRecord } from '../kernel/call/call.ts';
import type { SessionRecord } from '../kernel/call/ledger.ts';
import { byHandIn } from '../runtime/pipeline/record-external.ts';
import type { Backend, WorkspaceBackend } from './backend.ts';
import { type Credential, maySee } from './credentials.ts';

/** The session a request is about and the workspace it belongs to. */
export interface Place {
  readonly session: string;
  readonly workspace: WorkspaceBackend;
}

interface NewSession {
  readonly workspace: WorkspaceBackend;
  readonly who: Credential;
  readonly title: string | null;
}

const MOST_KNOWN = 10_000;
const OWN = 'api-';

/** Which workspace sessions belong to. That never changes, so it is looked up once. */
export class SessionPlaces {
  readonly #backend: Backend;
  readonly #known = new Map<string, WorkspaceBackend>();
  readonly #making = new Set<string>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Undefined for a session that is not there, is not theirs, or belongs to a workspace this server does not have. */
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
   * The session of a token that names none, in the first workspace unless it was opened in another of ours. Where it
   * belongs to a workspace that this server does not have, one beside it. It may not be there yet.
   */
  async own(who: Credential): Promise<Place | undefined> {
    const session = who.sessions?.[0] ?? ownSession(who);
    const found = await this.find(session, who);
    if (found !== undefined) return { session, workspace: found };
    const first = firstOf(this.#backend);
    if ((await this.#backend.ledger.session(session)) === null) return { session, workspace: first };
    return who.sessions === null ? { session: `${session}-${first.id}`, workspace: first } : undefined;
  }

  /** As `own`, and it is there. */
  async openOwn(who: Credential): Promise<Place | undefined> {
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
    // Somebody else may have been quicker: what the store says counts.
    return this.find(session, who);
  }

  /** False when it is there already: of those who make one at the same moment, in whatever process, the first does. */
  async make(session: string, by: NewSession): Promise<boolean> {
    if (this.#making.has(session)) return false;
    this.#making.add(session);
    try {
      return (await this.#backend.ledger.session(session)) === null && (await this.#note(session, by)) === 1;
    } finally {
      this.#making.delete(session);
    }
  }

  /** Which event of the session it is. */
  async #note(session: string, { workspace, who, title }: NewSession): Promise<number> {
    const agent = who.role === 'agent' ? who.name : null;
    const data = { workspace: workspace.id, title, agent, by: who.name };
    const event = { type: 'session.created', callId: null, at: Date.now(), data } as const;
    return (await this.#backend.ledger.note(session, event)).seq;
  }

  /** The workspaces in which somebody may take back what a call did; for one that is not in the log, all of theirs. */
  async ofCall(call: CallRecord | null, who: Credential): Promise<readonly WorkspaceBackend[]> {
    const theirs = [...(await workspacesFor(this.#backend, who)).values()];
    if (call === null) return who.sessions === null ? theirs : [];
    const byHand = theirs.filter(({ id }) => byHandIn(id) === call.session);
    const found = await this.find(call.session, who);
    return found === undefined ? byHand : [found];
  }

  async record(session: string, who: Credential): Promise<SessionRecord | null> {
    return maySee(who, session) ? this.#backend.ledger.session(session) : null;
  }

  #remember(session: string, workspace: WorkspaceBackend): void {
    if (this.#known.size >= MOST_KNOWN) this.#known.clear();
    this.#known.set(session, workspace);
  }
}

/** Where it works that names no session: no other token may choose its workspace. */
export function isOwnOfAnother(session: string, who: Credential): boolean {
  return session.startsWith(OWN) && session !== ownSession(who) && who.sessions === null;
}

function ownSession({ name }: Credential): string {
  return `${OWN}${name}`;
}

/** A token that is limited to sessions sees the workspaces of those, and no other. */
export async function workspacesFor(
  { workspaces, ledger }: Backend,
  { sessions }: Credential,
): Promise<ReadonlyMap<string, WorkspaceBackend>> {
  if (sessions === null) return workspaces;
  const records = await Promise.all(sessions.map((each) => ledger.session(each)));
  const theirs = new Set(records.map((record) => record?.workspace));
  return new Map([...workspaces].filter(([id]) => theirs.has(id)));
}

export function firstOf({ workspaces }: Backend): WorkspaceBackend {
  const [first] = workspaces.values();
  if (first === undefined) throw new Error('a server has at least one workspace');
  return first;
}
