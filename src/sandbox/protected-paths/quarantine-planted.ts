import { identityOf, statOf } from '../../host/files.ts';
import { readTextInside } from '../../host/read-inside.ts';
import { isMounted, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { QuarantinedFile } from '../../kernel/world/sandbox.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { isGitConfig, isGitHooks, isOwnGitFile, isOwnWorktree, isPlain, newHooks, stateOf } from './git-state.ts';
import { addsNoRisk, isHarmlessGitConfig } from './harmless-git-config.ts';
import { moveAside, type Planted } from './quarantine.ts';

interface Remembered {
  readonly kind: ProtectedPath['kind'];
  readonly state: string | undefined;
  readonly identity: string | undefined;
}

/** The state of protected paths before a run, by path. */
export type Memory = ReadonlyMap<string, Remembered>;

export interface Swept {
  readonly quarantined: readonly QuarantinedFile[];
  /** Paths that the host would obey and that could not be renamed, and paths that could not be read. */
  readonly left: readonly string[];
}

export async function remember(workspace: string, found: readonly ProtectedPath[]): Promise<Memory> {
  const memory = new Map<string, Remembered>();
  const yielder = createYielder();
  for (const each of found.filter((one) => isSwept(one) || isHiddenFolder(one))) {
    const state = each.access === 'read-only' ? stateOf(workspace, each) : undefined;
    memory.set(each.path, { kind: each.kind, state, identity: identityOf(`${workspace}/${each.path}`) });
    if (yielder.isDue()) await yielder.pause();
  }
  return memory;
}

function isHiddenFolder({ access, kind, because }: ProtectedPath): boolean {
  return access === 'hidden' && kind === 'directory' && because === undefined;
}

/** Whether a hidden folder is another than before: then the run could write into it. */
export function isFreshSince(workspace: string, memory: Memory): (hidden: ProtectedPath) => boolean {
  return (found) =>
    isHiddenFolder(found) && memory.get(found.path)?.identity !== identityOf(`${workspace}/${found.path}`);
}

function isSwept({ access, because }: ProtectedPath): boolean {
  return (
    (access === 'read-only' && because !== 'alias' && because !== 'failed') ||
    because === 'unreadable' ||
    because === 'unnameable'
  );
}

/**
 * After a live run: what it created where the host would execute or obey it is renamed, so that nothing is lost and
 * nothing happens. So is what changed in a protected place, since whoever replaces a file on the host lifts its
 * protection. Every path is walked over open folders without following links, since a process that still runs could put
 * one there.
 */
export async function sweep(
  workspace: string,
  before: readonly ProtectedPath[],
  after: readonly ProtectedPath[],
  memory: Memory,
): Promise<Swept> {
  const known = new Set(before.map(({ path }) => path));
  const reached = new Set(after.map(({ path }) => path));
  // Nobody held these, and the run may have taken away the link by which they are found.
  const unreached = before.filter((found) => !isMounted(found) && !reached.has(found.path));
  const looked = [...after, ...unreached.filter(({ path }) => statOf(`${workspace}/${path}`) !== undefined)]
    .filter(isSwept)
    // Where a new link leads is anybody's: without the link nothing obeys it.
    .filter(({ because, path }) => because !== 'target' || known.has(path));
  const yielder = createYielder();
  const planted: Planted[] = [];
  for (const found of looked) {
    const remembered = memoryOf(found, memory);
    if (isOther(workspace, found, remembered)) planted.push(...judge(workspace, found, remembered?.state));
    if (yielder.isDue()) await yielder.pause();
  }
  const quarantined: QuarantinedFile[] = [];
  const left: string[] = [];
  for (const each of planted) {
    const { path, reason, isNoText } = each;
    const movedTo = moveAside(workspace, each);
    if (movedTo !== null) quarantined.push({ path, movedTo, reason });
    else if (isNoText || statOf(`${workspace}/${path}`) !== undefined) left.push(path || '.');
    if (yielder.isDue()) await yielder.pause();
  }
  const told = new Set([...left, ...quarantined.map(({ path }) => path)]);
  const unlooked = after.filter(({ because, path }) => because === 'failed' && !told.has(path));
  return { quarantined, left: [...left, ...unlooked.map(({ path }) => path || '.')] };
}

/** The memory of a path, unless its kind has changed. */
function memoryOf({ path, kind }: ProtectedPath, memory: Memory): Remembered | undefined {
  const remembered = memory.get(path);
  return remembered?.kind === kind ? remembered : undefined;
}

/**
 * Git's files, links and what was not held are compared by what they say. Others were mounted on, so that only whoever
 * replaced them on the host could lift the protection: a file that is still the same one was written by nobody inside.
 */
function isOther(workspace: string, found: ProtectedPath, before: Remembered | undefined): boolean {
  if (before === undefined) return true;
  const isSame = before.state === stateOf(workspace, found, before.state);
  if (before.state !== undefined && (isSame || !isPlain(found) || !isMounted(found))) return !isSame;
  return before.identity !== identityOf(`${workspace}/${found.path}`);
}

/** Of more new ones, the whole folder is put aside: no project has as many, and every later run would look at each. */
const MOST_HOOKS = 100;

function judge(workspace: string, found: ProtectedPath, before: string | undefined): Planted[] {
  const { path } = found;
  const reason = found.rule?.reason ?? 'the host would obey it';
  if (found.because === 'unreadable') return [{ path, reason: 'nobody can look into it' }];
  if (found.because === 'unnameable')
    return [{ path, reason: 'its name is no text, so that nothing can be hidden in it', isNoText: true }];
  if (isGitHooks(found)) {
    const { added, changed } = newHooks(workspace, path, before);
    if (added.length > MOST_HOOKS) return [{ path, reason }];
    return [...added, ...changed].map((name) => ({ path: `${path}/${name}`, reason }));
  }
  if (isGitConfig(found)) {
    const text = readTextInside(workspace, path);
    const mayBeWorktree = (named: string): boolean => isOwnWorktree(workspace, found, named);
    if (isHarmlessGitConfig(text, mayBeWorktree)) return [];
    const isKnown = text !== null && before !== undefined && addsNoRisk(before, text, mayBeWorktree);
    return isKnown ? [] : [{ path, reason }];
  }
  return isOwnGitFile(workspace, found) ? [] : [{ path, reason }];
}
