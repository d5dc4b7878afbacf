import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { digestTree } from '../host/digest-tree.ts';
import { digestOf, versionOf } from '../host/file-version.ts';
import type { Result } from '../kernel/result.ts';
import type { AppliedChange, Change, Files } from '../kernel/world/workspace.ts';
import type { Workspace } from '../workspace/open-workspace.ts';

type TakeChange = Extract<Change, { kind: 'take' }>;

/** The content of a stage without a command: files are put there, and changes made from them with the versions of now. */
export interface TempStage {
  readonly folder: string;
  /** Left out: nothing is written, and `path` is looked for as it is. */
  put(path: string, content: string | { readonly target: string } | 'folder'): string;
  /** A change that brings `path` in, with the versions that stage and workspace have now. */
  take(path: string, more?: Partial<TakeChange>): Promise<TakeChange>;
  remove(path: string): Promise<Extract<Change, { kind: 'delete' }>>;
  apply(changes: readonly Change[], callId?: string): Promise<Result<readonly AppliedChange[]>>;
}

export function tempStage(workspace: Workspace, folder: string): TempStage {
  mkdirSync(folder, { recursive: true });
  const there = (path: string) => join(workspace.root, path);
  return {
    folder,
    put(path, content) {
      const at = join(folder, path);
      mkdirSync(dirname(at), { recursive: true });
      if (content === 'folder') mkdirSync(at);
      else if (typeof content === 'string') writeFileSync(at, content);
      else symlinkSync(content.target, at);
      return at;
    },
    async take(path, more) {
      const from = join(folder, path);
      const expect = more?.expect ?? (await expectationAt(there(path)));
      return { kind: 'take', path, from, expect, content: { version: await versionAt(from) }, ...more };
    },
    async remove(path) {
      return { kind: 'delete', path, recursive: true, expect: { version: await versionAt(there(path)) } };
    },
    apply: (changes, callId = 'command') => applierFor(workspace).apply(changes, { callId }),
  };
}

/** The files as the call sees them that keeps the changes of a stage. */
function applierFor(workspace: Workspace): Files {
  const admitted = [{ kind: 'fs.apply', stage: 's', digest: 'd', paths: [], total: 0 }] as const;
  const signal = new AbortController().signal;
  return workspace.files({ callId: 'apply', session: 's', workingDir: workspace.root, timeout: 60, signal, admitted });
}

async function expectationAt(path: string): Promise<TakeChange['expect']> {
  return lstatSync(path, { throwIfNoEntry: false }) === undefined ? 'absent' : { version: await versionAt(path) };
}

/** As file tools and `digestTree` tell it. */
async function versionAt(path: string): Promise<string> {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return readlinkSync(path);
  return stat.isDirectory() ? (await digestTree(path)).digest : versionOf(digestOf(readFileSync(path)));
}

/** Everything of a tree but its times: each path with its kind, permissions and content. */
export function treeListing(root: string, below = ''): Record<string, string> {
  const listing: Record<string, string> = {};
  for (const { name } of readdirSync(join(root, below), { withFileTypes: true })) {
    const path = join(below, name);
    const stat = lstatSync(join(root, path));
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) listing[path] = `symlink ${readlinkSync(join(root, path))}`;
    else if (stat.isFile()) listing[path] = `file ${mode} ${readFileSync(join(root, path), 'utf8')}`;
    else Object.assign(listing, { [path]: `folder ${mode}` }, treeListing(root, path));
  }
  return listing;
}
