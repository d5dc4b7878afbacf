import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { type GitStatus, gitStatus } from '../git/status.ts';
import { CrossProcessLock } from '../host/cross-process-lock.ts';
import { catchErrnoAsync } from '../host/errno.ts';
import { Mutex, type RunExclusive } from '../host/mutex.ts';
import { shortPath } from '../host/parse-path.ts';
import type { Logger } from '../kernel/ports.ts';
import { silentLogger } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { createFilePolicy, type FilePolicy } from '../kernel/world/file-policy.ts';
import { NO_PATH_DECISIONS, type PathDecisions } from '../kernel/world/path-decisions.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { Files, Search, World } from '../kernel/world/workspace.ts';
import { SecretHardLinks } from '../secrets/secret-hard-links.ts';
import { SecretValues } from '../secrets/secret-values.ts';
import { AgentFiles } from './authorship/agent-files.ts';
import { findUnagreed } from './authorship/find-unagreed.ts';
import { filesFor } from './files.ts';
import { Journal } from './journal/journal.ts';
import { recover } from './journal/recover.ts';
import { canUndo, keptPaths, type Undone, undoCall } from './journal/undo.ts';
import { overView } from './over-view.ts';
import { SeenVersions } from './read/file-content.ts';
import { type OwnerText, readForOwner } from './read/read-for-owner.ts';
import { searchFor } from './search/search-for.ts';
import { ChangeAuthors } from './watch/change-author.ts';
import { type FileNews, type Watch, watchTree } from './watch/watch.ts';
import { WorkspaceRoot } from './workspace-root.ts';

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
  /** The decisions of persons about texts of the agent. Left out: there are none. */
  readonly decisions?: PathDecisions;
  /** Told about changes that a crash left and that could not be undone whole. */
  readonly logger?: Logger;
  /** Where the user's own git configuration is, which may name folders of hooks. Left out: only repositories' own count. */
  readonly home?: string;
}

/** The one place that opens workspace files. Give it to an executor as its `world`. */
export interface Workspace extends World {
  /** Whether a call's changes are known and were not taken back. */
  canUndo(callId: string): boolean;
  /** Undoes the changes of a call. CONFLICT when later changes overlap, NOT_CONFIGURED without a journal. */
  undo(callId: string): Promise<Result<Undone>>;
  /**
   * Reports changes below the root by any writer, some 50 ms later, except those in .git and
   * node_modules. EXECUTION_ERROR when the system allows too few watches.
   */
  watch(tell: (news: FileNews) => void): Promise<Result<Watch>>;
  /** Reads a text for the person whose workspace it is, secrets included. It is for their eyes alone: no tool has it. */
  readForOwner(path: string): Result<OwnerText>;
  /** The status of files in git, without sensitive ones; null where it cannot be told. */
  gitStatus(): Promise<Result<GitStatus | null>>;
  close(): void;
}

/** Two workspaces of one process over the same folder change it one after the other. */
const mutexes = new Map<string, Mutex>();

/** First makes whole what a crash left half done. Throws when the root is not a folder: that is a wrong configuration. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { policy = createFilePolicy() } = options;
  const { home = null } = options;
  const ownFolders = [...(options.ownFolders ?? []), ...(options.journal ? [options.journal.folder] : [])];
  const root = new WorkspaceRoot(options.root, policy, { ownFolders, home });
  const journalFolder = options.journal?.folder ?? null;
  const journal = options.journal === undefined ? undefined : new Journal(options.journal);
  const mutex = mutexes.get(root.names.real) ?? new Mutex();
  mutexes.set(root.names.real, mutex);
  const turns =
    options.journal === undefined ? undefined : new CrossProcessLock(options.journal.folder, root.names.real);
  const oneByOne: RunExclusive = (work) => mutex.run(() => (turns === undefined ? work() : turns.run(work)));
  if (journal !== undefined) {
    await oneByOne(() => recover(root, journal, options.logger ?? silentLogger));
    journal.prune();
  }
  const images = journal?.snapshots.folder ?? null;
  const shared = {
    root,
    journal,
    secrets: new SecretHardLinks(root, { images }),
    values: new SecretValues(root),
    seen: new SeenVersions(),
    authors: new ChangeAuthors(),
    agentFiles: new AgentFiles(journalFolder && join(journalFolder, 'authorship'), root.names.real),
    decisions: options.decisions ?? NO_PATH_DECISIONS,
  };
  const watches = new Set<Watch>();
  return {
    root: root.names.real,
    files(caller) {
      if (!isWorkspaceOf(caller.workingDir, root)) return refuseOtherWorkspace(caller.workingDir, root).files;
      return filesFor(caller, { ...shared, session: caller.session }, oneByOne);
    },
    wrote: (session, path, version) => shared.seen.wrote(session, path, version),
    secretValues: (hidden) => shared.values.toHide(hidden),
    keptPaths: (stage) => (journal === undefined ? [] : keptPaths(root, journal, stage)),
    search(caller) {
      if (!isWorkspaceOf(caller.workingDir, root)) return refuseOtherWorkspace(caller.workingDir, root).search;
      return searchFor(caller, { root, secrets: shared.secrets, sandbox: options.sandbox });
    },
    unagreed: () => findUnagreed({ root, record: shared.agentFiles, decisions: shared.decisions }),
    over: (view) => overView(view, { ...shared, ownFolders, home, images, sandbox: options.sandbox }),
    canUndo: (callId) => journal !== undefined && canUndo(root, journal, callId),
    async undo(callId) {
      if (journal === undefined) {
        return fail('NOT_CONFIGURED', 'Nothing can be undone without a journal: open the workspace with one.');
      }
      // Also to take the lock needs space.
      return catchErrnoAsync('The journal', () => oneByOne(() => undoCall(root, journal, callId)));
    },
    async watch(tell) {
      shared.authors.watched(1);
      const begun = await watchTree(root, shared.authors, tell);
      if (!begun.ok) {
        shared.authors.watched(-1);
        return begun;
      }
      const inner = begun.value;
      const watch: Watch = {
        get folders() {
          return inner.folders;
        },
        close() {
          if (watches.delete(watch)) shared.authors.watched(-1);
          inner.close();
        },
      };
      watches.add(watch);
      return ok(watch);
    },
    readForOwner: (path) => readForOwner(root, path),
    async gitStatus() {
      const looked = await gitStatus(root.names.real, options.sandbox);
      if (!looked.ok || looked.value === null) return looked;
      // Sensitive files are hidden in the sandbox, so git takes them for changed.
      return ok({ ...looked.value, files: looked.value.files.filter(({ path }) => root.refuses(path).ok) });
    },
    close() {
      for (const watch of watches) watch.close();
      turns?.release();
      root.close();
      journal?.close();
    },
  };
}

/** Whether a call works in this workspace. Most say so with the very path it was opened by. */
function isWorkspaceOf(workingDir: string, { names }: WorkspaceRoot): boolean {
  if (workingDir === names.real || workingDir === names.given) return true;
  try {
    return realpathSync(workingDir) === names.real;
  } catch {
    return false;
  }
}

/** Refuses everything: touching files of another folder than the call means would be worse than no answer. */
function refuseOtherWorkspace(workingDir: string, { names }: WorkspaceRoot): { files: Files; search: Search } {
  const refuse = (): Result<never> =>
    fail(
      'NOT_CONFIGURED',
      `The call works in ${shortPath(workingDir)}, but the workspace is ${names.real}: set workingDir to it.`,
    );
  const later = async () => refuse();
  return {
    files: {
      inspect: refuse,
      list: later,
      readWindow: later,
      readText: later,
      readBytes: later,
      apply: later,
      rehearse: later,
      suggest: async () => [],
      secretIn: async () => null,
    },
    search: { glob: later, grep: later },
  };
}
