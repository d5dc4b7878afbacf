import { createFilePolicy, type FilePolicy } from '../kernel/file-policy.ts';
import type { Logger } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import { silentLogger } from '../kernel/silent-logger.ts';
import type { World } from '../kernel/world/workspace.ts';
import { ByWhom } from './watch/change-author.ts';
import { filesFor } from './files.ts';
import { type GitStatus, gitStatus } from '../git/status.ts';
import { Journal } from './journal/journal.ts';
import { Mutex, type OneByOne } from '../host/mutex.ts';
import { Place } from './workspace-root.ts';
import { recover } from './recover.ts';
import { searchFor } from './search.ts';
import { SecretInodes } from './secret-inodes.ts';
import { SecretValues } from '../secrets/secret-values.ts';
import { Seen } from './seen.ts';
import { Turns } from '../host/cross-process-lock.ts';
import { canUndo, type Undone, undoCall } from './journal/undo.ts';
import { type FileNews, type Watch, watchTree } from './watch/watch.ts';
import { elsewhere, isHere } from './working-dir.ts';

export interface WorkspaceOptions {
  /** An existing folder, or a link to one. */
  readonly root: string;
  readonly policy?: FilePolicy;
  /** Where old versions are kept, so that calls can be undone. Without it they cannot. */
  readonly journal?: { readonly folder: string; readonly maxBytes?: number };
  /** Where search runs. Without it, it runs on the host and every hit is checked again. */
  readonly sandbox?: Sandbox;
  /** Absolute folders out of reach for tools, if they lie inside: the state directory and the like. */
  readonly ownFolders?: readonly string[];
  /** Hears what a crash left that could not be taken back whole. */
  readonly logger?: Logger;
  /** Where the user's own git configuration is, which may name folders of hooks. Left out: only repositories' own count. */
  readonly home?: string;
}

/** The one place that opens workspace files. Give it to an executor as its `world`. */
export interface Workspace extends World {
  /** Whether a call's changes are known and were not taken back. */
  canUndo(callId: string): boolean;
  /** Takes back what a call changed. CONFLICT when later changes overlap, NOT_CONFIGURED without a journal. */
  undo(callId: string): Promise<Result<Undone>>;
  /**
   * Tells what changes below the root, whoever changes it, some 50 ms later; nothing of what is in .git and
   * node_modules. EXECUTION_ERROR when the system allows too few watches.
   */
  watch(tell: (news: FileNews) => void): Promise<Result<Watch>>;
  /** How the files stand to git, without sensitive ones; null where nobody can tell. */
  gitStatus(): Promise<Result<GitStatus | null>>;
  close(): void;
}

/** Two workspaces of one process over the same folder change it one after the other. */
const mutexes = new Map<string, Mutex>();

/** First makes whole what a crash left half done. Throws when the root is not a folder: that is a wrong configuration. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { policy = createFilePolicy() } = options;
  const ownFolders = [...(options.ownFolders ?? []), ...(options.journal ? [options.journal.folder] : [])];
  const place = new Place(options.root, policy, ownFolders, options.home ?? null);
  const journal = options.journal === undefined ? undefined : new Journal(options.journal);
  const mutex = mutexes.get(place.names.real) ?? new Mutex();
  mutexes.set(place.names.real, mutex);
  const turns = options.journal === undefined ? undefined : new Turns(options.journal.folder, place.names.real);
  const oneByOne: OneByOne = (work) => mutex.run(() => (turns === undefined ? work() : turns.run(work)));
  if (journal !== undefined) {
    await oneByOne(() => recover(place, journal, options.logger ?? silentLogger));
    journal.prune();
  }
  const shared = {
    place,
    journal,
    secrets: new SecretInodes(place),
    values: new SecretValues(place),
    seen: new Seen(),
    byWhom: new ByWhom(),
  };
  const watches = new Set<Watch>();
  return {
    root: place.names.real,
    open(caller) {
      if (!isHere(caller.workingDir, place)) return elsewhere(caller.workingDir, place);
      return {
        files: filesFor(caller, { ...shared, session: caller.session }, oneByOne),
        search: searchFor(caller, { place, secrets: shared.secrets, sandbox: options.sandbox }),
      };
    },
    canUndo: (callId) => journal !== undefined && canUndo(place, journal, callId),
    async undo(callId) {
      if (journal === undefined) {
        return fail('NOT_CONFIGURED', 'Nothing can be undone without a journal: open the workspace with one.');
      }
      return oneByOne(() => undoCall(place, journal, callId));
    },
    async watch(tell) {
      shared.byWhom.watched(1);
      const begun = await watchTree(place, shared.byWhom, tell);
      if (!begun.ok) {
        shared.byWhom.watched(-1);
        return begun;
      }
      const inner = begun.value;
      const watch: Watch = {
        get folders() {
          return inner.folders;
        },
        close() {
          if (watches.delete(watch)) shared.byWhom.watched(-1);
          inner.close();
        },
      };
      watches.add(watch);
      return ok(watch);
    },
    async gitStatus() {
      const looked = await gitStatus(place.names.real, options.sandbox);
      if (!looked.ok || looked.value === null) return looked;
      // Sensitive files are hidden in the sandbox, so git takes them for changed.
      return ok({ ...looked.value, files: looked.value.files.filter(({ path }) => place.refuses(path).ok) });
    },
    close() {
      for (const watch of watches) watch.close();
      turns?.give();
      place.close();
      journal?.close();
    },
  };
}
