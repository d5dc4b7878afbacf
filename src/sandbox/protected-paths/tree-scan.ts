import { statOf } from '../../host/files.ts';
import type { FilePolicy } from '../../kernel/world/file-policy.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { isCounted } from '../../secrets/judge-secret-file.ts';
import type { IsolationOptions } from '../isolation-options.ts';
import { findOtherNames } from './aliases.ts';
import { commandPolicy } from './command-policy.ts';
import type { ContentIndex } from './content-index.ts';
import { createNameJudge, type ScanPurpose } from './judge-names.ts';
import { createScannedTree, type KnownFolder, type ScannedTree } from './scanned-tree.ts';
import { findHiddenBehindSymlinks } from './symlinked-folders.ts';

export interface TreeScan {
  /**
   * Finds every path in the workspace that a run must not read or write, by its name and by its content. Reads only what changed
   * since the last time. A file that could not be read in time is found as well, `unread`.
   */
  find(workspace: string, onWait?: (filesLeft: number) => void): Promise<readonly ProtectedPath[]>;
  /** Folders that the system does not allow to be watched: each of their files is looked at for each run. */
  readonly unwatched: number;
  close(): void;
}

export interface TreeScanOptions extends Pick<IsolationOptions, 'filePolicy' | 'decisions' | 'stateDir'> {
  readonly purpose: ScanPurpose;
  /** How long `find` waits until the files of the workspace are read. */
  readonly maxWaitMs?: number;
}

interface WorkspaceScan {
  readonly policy: FilePolicy;
  readonly tree: ScannedTree;
  /** Hidden targets of symlinks, by their paths. */
  readonly targets: Map<string, ProtectedPath>;
  /** The walk that goes on. */
  turn: Promise<unknown>;
}

const MAX_WAIT_MS = 30_000;
const TELL_MS = 1_000;

export function createTreeScan(options: TreeScanOptions): TreeScan {
  const { purpose, stateDir, maxWaitMs = MAX_WAIT_MS } = options;
  const scans = new Map<string, WorkspaceScan>();
  let decided = 0;
  const unsubscribe = options.decisions?.onChange(() => {
    decided++;
  });

  async function find(workspace: string, onWait?: (filesLeft: number) => void): Promise<readonly ProtectedPath[]> {
    const scan = scanOf(workspace);
    const { policy } = scan;
    const { content } = scan.tree;
    let walked = await walk(workspace, scan);
    if (content.waiting > 0) {
      await settle(content, { maxWaitMs, onWait });
      // Names may have come meanwhile, and what is not watched is looked at again.
      walked = await walk(workspace, scan);
      await settle(content, { maxWaitMs, onWait });
    }
    const { folders, found, stands } = walked;
    const byContent = hiddenByContent(policy, content, folders);
    const hidden = new Set(byContent.map(({ path }) => path));
    const named = [...found.filter(({ path }) => !hidden.has(path)), ...byContent];
    const all = [...named, ...unlisted(await findHiddenBehindSymlinks(workspace, stands, policy), named)];
    const namesOf = () => new Map([...folders].map(([path, folder]) => [path, folder.names]));
    const listed = [...all, ...(await findOtherNames(workspace, all, namesOf))];
    return [...listed, ...(await stillHidden(workspace, scan, listed))];
  }

  function scanOf(workspace: string): WorkspaceScan {
    const known = scans.get(workspace);
    if (known !== undefined) return known;
    const policy = commandPolicy(options, workspace);
    const tree = createScannedTree(workspace, stateDir, createNameJudge(policy, purpose));
    const scan = { policy, tree, targets: new Map(), turn: Promise.resolve() };
    scans.set(workspace, scan);
    return scan;
  }

  /** One after the other. */
  function walk(workspace: string, scan: WorkspaceScan): ReturnType<ScannedTree['walk']> {
    const walking = scan.turn.then(() => scan.tree.walk(decided));
    scan.turn = walking.catch(() => {
      // The changes that it took are lost.
      scan.tree.close();
      scans.delete(workspace);
    });
    return walking;
  }

  return {
    find,
    get unwatched() {
      return [...scans.values()].reduce((sum, { tree }) => sum + tree.unwatched, 0);
    },
    close() {
      unsubscribe?.();
      for (const { tree } of scans.values()) tree.close();
      scans.clear();
    },
  };
}

async function settle(
  content: ContentIndex,
  { maxWaitMs, onWait }: { maxWaitMs: number; onWait: ((filesLeft: number) => void) | undefined },
): Promise<void> {
  for (let waitedMs = 0; waitedMs < maxWaitMs; waitedMs += TELL_MS) {
    await content.settle(Math.min(TELL_MS, maxWaitMs - waitedMs));
    if (content.waiting === 0) return;
    onWait?.(content.waiting);
  }
}

function hiddenByContent(
  policy: FilePolicy,
  content: ContentIndex,
  folders: ReadonlyMap<string, KnownFolder>,
): ProtectedPath[] {
  const hidden: ProtectedPath[] = [];
  const base = { kind: 'file', access: 'hidden', rule: null } as const;
  for (const { path, content: file } of content.suspects()) {
    const counted = policy.countedSecrets(path);
    if (file === null && counted !== 'none') hidden.push({ path, ...base, because: 'unread' });
    const secret = file?.secret ?? undefined;
    if (isCounted(secret, counted)) hidden.push({ path, ...base, secret });
  }
  const known = new Set(hidden.map(({ path }) => path));
  for (const [folder, { unlessPublic }] of folders) {
    for (const each of unlessPublic) {
      const name = folder === '' ? each.path : each.path.slice(folder.length + 1);
      if (!known.has(each.path) && content.of(folder, name)?.isPublic !== true) hidden.push(each);
    }
  }
  return hidden;
}

/** Targets that stay hidden: a run can rename the symlink whose name made its target secret. */
async function stillHidden(
  workspace: string,
  { policy, targets }: WorkspaceScan,
  found: readonly ProtectedPath[],
): Promise<ProtectedPath[]> {
  const paths = new Set(found.map(({ path }) => path));
  for (const each of found) {
    // Of a secret by its content every name is judged anew.
    if (each.access !== 'hidden' || each.secret !== undefined) continue;
    if (each.because === 'alias' || each.viaSymlink) targets.set(each.path, each);
  }
  const yielder = createYielder();
  const still: ProtectedPath[] = [];
  const gone = ({ path }: ProtectedPath) => !paths.has(path) && policy.countedSecrets(path) !== 'none';
  for (const each of [...targets.values()].filter(gone)) {
    if (statOf(`${workspace}/${each.path}`) !== undefined) still.push(each);
    if (yielder.isDue()) await yielder.pause();
  }
  return still;
}

function unlisted(more: readonly ProtectedPath[], found: readonly ProtectedPath[]): ProtectedPath[] {
  if (more.length === 0) return [];
  const hidden = new Set(found.filter(({ access }) => access === 'hidden').map(({ path }) => path));
  return more.filter(({ path }) => !hidden.has(path));
}
