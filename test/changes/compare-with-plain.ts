import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { removeTree } from '../../src/host/remove-tree.ts';
import type { ToolResult } from '../../src/kernel/tool/tool-result.ts';
import { commandWorkspace } from '../../src/testing/command-workspace.ts';
import type { TempWorkspace } from '../../src/testing/temp-workspace.ts';

export const HOST_PATH = '/usr/local/bin:/usr/bin:/bin';

/** Runs scripts as commands in a stage and keeps their changes, and runs them plainly in a copy beside it. */
export interface PlainComparison extends AsyncDisposable {
  readonly ws: TempWorkspace;
  /** Each way in which the kept changes, or an undo of them, give another tree than the plain run, in words. */
  differences(script: string, more?: { readonly skip?: (path: string) => boolean }): Promise<string[]>;
}

/** `fill` makes the tree that each script starts from. */
export async function openComparison(fill: (root: string) => void): Promise<PlainComparison> {
  const ws = await commandWorkspace({ path: HOST_PATH, mode: 'auto' });
  const [pristine, plain] = [join(ws.top, 'pristine'), join(ws.top, 'plain')];
  mkdirSync(pristine);
  fill(pristine);
  copyInto(pristine, ws.root);
  return {
    ws,
    async differences(script, { skip = () => false } = {}) {
      copyInto(pristine, plain);
      const before = listTree(ws.root, skip);
      const exit = runPlainly(script, plain);
      const ran = await ws.call('bash', { command: script });
      const kept = compare(listTree(ws.root, skip), listTree(plain, skip), 'kept', 'plain');
      const wrong = [...problems(ran, exit), ...kept];
      const undone = hasChanged(ran) ? await ws.workspace.undo(ran.callId ?? '') : undefined;
      if (undone?.ok === false) wrong.push(`undo: ${undone.error.message}`);
      wrong.push(...compare(listTree(ws.root, skip), before, 'undone', 'before'));
      if (wrong.length > 0) copyInto(pristine, ws.root);
      return wrong;
    },
    [Symbol.asyncDispose]: () => ws[Symbol.asyncDispose](),
  };
}

/** As the same user without privileges that a command in a stage is: nothing but the stage differs. */
function runPlainly(script: string, cwd: string): number | null {
  const as = ['--dev-bind', '/', '/', '--unshare-user', '--uid', '1000', '--gid', '1000', '--cap-drop', 'ALL'];
  const env = { PATH: HOST_PATH, HOME: '/nonexistent', LANG: 'C.UTF-8' };
  return spawnSync('bwrap', [...as, 'bash', '-c', script], { cwd, env, stdio: 'ignore' }).status;
}

function problems({ ok, value, text }: ToolResult, exit: number | null): string[] {
  const now = (value as { exitCode?: number } | null)?.exitCode;
  if (!ok && now === undefined) return [`the call failed: ${text}`];
  return now === exit ? [] : [`exit ${now} instead of ${exit}: ${text}`];
}

function hasChanged({ value }: ToolResult): boolean {
  const changed = (value as { changed?: { state: string } | null } | null)?.changed;
  return changed != null && changed.state !== 'discarded';
}

function compare(
  now: ReadonlyMap<string, string>,
  wanted: ReadonlyMap<string, string>,
  ...[is, was]: [string, string]
): string[] {
  const paths = [...new Set([...now.keys(), ...wanted.keys()])].filter((path) => now.get(path) !== wanted.get(path));
  return paths
    .slice(0, 5)
    .map(
      (path) => `${JSON.stringify(path)} ${is}: ${now.get(path) ?? 'absent'}, ${was}: ${wanted.get(path) ?? 'absent'}`,
    );
}

/** Each path with its kind, permissions and content. */
function listTree(root: string, skip: (path: string) => boolean, below = ''): Map<string, string> {
  const listing = new Map<string, string>();
  for (const name of readdirSync(join(root, below)).sort()) {
    const path = join(below, name);
    if (skip(path)) continue;
    const [at, stat] = [join(root, path), lstatSync(join(root, path))];
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) listing.set(path, `symlink to ${readlinkSync(at)}`);
    else if (stat.isFile()) listing.set(path, `file ${mode} ${digest(opened(at, stat.mode, () => readFileSync(at)))}`);
    else listing.set(path, `${stat.isDirectory() ? 'folder' : 'special'} ${mode}`);
    if (!stat.isDirectory()) continue;
    const inside = opened(at, stat.mode, () => listTree(root, skip, path));
    for (const [key, value] of inside) listing.set(key, value);
  }
  return listing;
}

/** An ordinary user cannot look into all that is theirs: a script may have taken the permission away. */
function opened<Content>(path: string, mode: number, look: () => Content): Content {
  const needed = lstatSync(path).isDirectory() ? 0o500 : 0o400;
  if ((mode & needed) === needed || process.getuid?.() === 0) return look();
  chmodSync(path, mode | needed);
  try {
    return look();
  } finally {
    chmodSync(path, mode);
  }
}

function digest(bytes: Buffer): string {
  return bytes.length < 40 ? JSON.stringify(bytes.toString()) : createHash('sha256').update(bytes).digest('hex');
}

/** The folder itself stays: a workspace is open by it. */
function copyInto(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(to)) removeTree(join(to, name));
  execFileSync('cp', ['-a', `${from}/.`, to]);
}

/** Makes a tree from names and contents; a name that ends in "/" is a folder, one with " -> " a symlink. */
export function makeTree(root: string, tree: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(tree)) {
    const [path = '', target] = name.split(/(?<=.) -> /);
    mkdirSync(join(root, path.endsWith('/') ? path : dirname(path)), { recursive: true });
    if (target !== undefined) symlinkSync(target, join(root, path));
    else if (!path.endsWith('/'))
      writeFileSync(join(root, path), content, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
  }
}
