import { toChangeItem } from '../../kernel/call/change-item.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Stage } from '../../kernel/world/stage.ts';
import { pendingChangesView } from '../../protocol/changes-view.ts';
import type { Backend, PendingChange, WorkspaceBackend } from '../backend.ts';
import { type Credential, maySee } from '../credentials.ts';
import { type Handlers, json } from '../handler.ts';
import { failureResponse, refuse } from '../problem.ts';
import { SessionLookup } from '../session-lookup.ts';

type ChangesHandlers = Pick<
  Handlers,
  'listChanges' | 'getChanges' | 'getChangedFile' | 'keepChanges' | 'discardChanges' | 'collectChanges'
>;

interface FoundChange {
  readonly change: PendingChange;
  readonly workspace: WorkspaceBackend;
}

const MAX_TEXT_BYTES = 1024 * 1024;

/** Pending changes of commands. Deciding about them has the checks and the record of every other approval. */
export function changesRoutes(backend: Backend): ChangesHandlers {
  const { workspaces, hideSecrets } = backend;
  const places = new SessionLookup(backend);

  async function visibleTo(who: Credential): Promise<FoundChange[]> {
    const all = await Promise.all(
      [...workspaces.values()].map(async (workspace) =>
        (await workspace.changes.list()).map((change) => ({ change, workspace })),
      ),
    );
    return all.flat().filter(({ change }) => maySee(who, change.stage.session));
  }

  /** Changes of a session that the token may not see are unknown to it. */
  async function find(id: string | undefined, who: Credential): Promise<FoundChange | undefined> {
    return (await visibleTo(who)).find(({ change }) => change.stage.id === id);
  }

  return {
    async listChanges({ query, who }) {
      const found = (await visibleTo(who)).map(({ change }) => change);
      const wanted = found.filter(({ stage }) => query.session === undefined || stage.session === query.session);
      return json({ items: wanted.map(({ stage, question }) => pendingChangesView(stage, question?.id ?? null)) });
    },

    async getChanges({ params, query, who }) {
      const found = await find(params.id, who);
      if (found === undefined) return unknown();
      const { stage, question } = found.change;
      const { after, limit, form } = query;
      const about = { ...pendingChangesView(stage, question?.id ?? null), repository: stage.repository };
      if (form === 'diffs') {
        const { items, truncated } = await found.workspace.changes.present(found.change);
        return json({ ...about, items, truncated, next: null });
      }
      const end = after + limit;
      const next = end < stage.changes.length ? end : null;
      return json({ ...about, items: stage.changes.slice(after, end).map(toChangeItem), truncated: false, next });
    },

    async getChangedFile({ params, query, who }) {
      const found = await find(params.id, who);
      if (found === undefined) return unknown();
      const { path, side } = query;
      const read = await textOf(found.change.stage, path, side);
      if (!read.ok) return failureResponse(read.error);
      if (read.value === null) return json({ path, side, text: null, hidden: false });
      const text = hideSecrets(read.value);
      return json({ path, side, text, hidden: text !== read.value });
    },

    async keepChanges({ params, body, who }) {
      const found = await find(params.id, who);
      if (found === undefined) return unknown();
      if (isOvertaken(found, body.digest)) return overtaken();
      const { digest: _, ...selection } = body;
      const kept = await found.workspace.changes.keep(found.change, selection, who.name);
      return kept.ok ? json(kept.value) : failureResponse(kept.error);
    },

    async discardChanges({ params, body, who }) {
      const found = await find(params.id, who);
      if (found === undefined) return unknown();
      if (isOvertaken(found, body.digest)) return overtaken();
      const discarded = await found.workspace.changes.discard(found.change, who.name, body.message);
      return discarded.ok ? json(discarded.value) : failureResponse(discarded.error);
    },

    async collectChanges({ params, body, who }) {
      const session = params.id ?? '';
      const { collect, onto = null } = body;
      const workspace = await places.find(session, who);
      if (workspace === undefined || (onto !== null && !maySee(who, onto))) return unknownSession();
      if (collect) {
        const begun = await workspace.changes.collect(session, onto, who.name);
        return begun.ok ? json({ collects: true, changes: null }) : failureResponse(begun.error);
      }
      const ended = await workspace.changes.endCollecting(session);
      return ended.ok ? json({ collects: false, changes: ended.value }) : failureResponse(ended.error);
    },
  };
}

/** Only a changed path is read: the route is no second way to the files of the workspace. */
async function textOf(stage: Stage, path: string, side: 'before' | 'after'): Promise<Result<string | null>> {
  const change = stage.changes.find((each) => each.path === path);
  if (change === undefined)
    return fail('FILE_NOT_FOUND', `${path} is not among these changes: take a path of the list.`);
  if (change.class === 'sensitive') return fail('PERMISSION_DENIED', `${path} is not shown: it may hold secrets.`);
  if (change[side] === null) return ok(null);
  const read = await stage.read(path, side, MAX_TEXT_BYTES);
  if (!read.ok) return read;
  if (read.value === null) return ok(null);
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(read.value);
    if (!text.includes('\0')) return ok(text);
  } catch {
    // No text, as below.
  }
  return fail('INVALID_INPUT', `${path} is not text, so there is nothing to show.`);
}

/** A session may have changed more since somebody looked. */
function isOvertaken({ change }: FoundChange, digest: string | undefined): boolean {
  return digest !== undefined && digest !== change.stage.digest;
}

function overtaken(): Response {
  return refuse('CONFLICT', 'There are other changes by now: look at them again, then decide.');
}

function unknownSession(): Response {
  return refuse('NOT_FOUND', 'Unknown session.');
}

function unknown(): Response {
  return refuse('NOT_FOUND', 'Unknown pending changes: they were kept or discarded before, or never were.');
}
