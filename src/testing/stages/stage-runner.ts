import assert from 'node:assert/strict';
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunRequest, RunResult, Sandbox } from '../../kernel/world/sandbox.ts';
import type { StagedChange, StagedChanges } from '../../kernel/world/stage.ts';
import type { SandboxCheck } from '../sandbox-contract.ts';

export interface StageSubject {
  readonly sandbox: Sandbox;
  /** Returns a fresh empty folder. */
  workspace(): string;
}

export interface StageRunner {
  readonly sandbox: Sandbox;
  /** Runs a script, in a new stage and a new workspace unless the request has others. */
  staged(script: string, more?: Partial<RunRequest>): Promise<RunResult>;
  /** Runs a script in a workspace with these files; asserts that it ends well and that nothing of the workspace changed. */
  changesOf(files: WorkspaceFiles, script: string): Promise<StagedChanges>;
}

export function createRunner({ sandbox, workspace: make }: StageSubject): StageRunner {
  async function staged(script: string, more: Partial<RunRequest> = {}): Promise<RunResult> {
    const stage = { folder: await newStage(sandbox) };
    const base = { command: { script }, workspace: make(), mounts: 'staged', tag: 'stage', stage } as const;
    const result = await sandbox.run({ ...base, ...more });
    assert.ok(result.ok, result.ok ? '' : result.error.message);
    return result.value;
  }

  return {
    sandbox,
    staged,
    async changesOf(files, script) {
      const workspace = filled(make(), files);
      const before = treeOf(workspace);
      const result = await staged(script, { workspace });
      assert.deepEqual(treeOf(workspace), before, 'the workspace changed');
      assert.equal(result.exitCode, 0, textOf(result));
      assert.ok(result.staged !== null);
      return result.staged;
    },
  };
}

export async function newStage(sandbox: Sandbox): Promise<string> {
  const status = await sandbox.status();
  assert.ok(status.ok && status.value.stages.folder !== null);
  return mkdtempSync(join(status.value.stages.folder, 'stage-'));
}

export type WorkspaceFiles = Readonly<Record<string, string | { readonly link: string }>>;

export function filled(workspace: string, files: WorkspaceFiles): string {
  for (const [path, content] of Object.entries(files)) {
    const full = join(workspace, path);
    mkdirSync(dirname(full), { recursive: true });
    if (typeof content === 'string') writeFileSync(full, content);
    else symlinkSync(content.link, full);
  }
  return workspace;
}

/** Everything about a tree that a run could change. */
function treeOf(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { mode, mtimeMs, ino } = lstatSync(path);
      const content = entry.isFile() ? readFileSync(path, 'latin1') : entry.isSymbolicLink() ? readlinkSync(path) : '';
      return `${path} ${mode} ${mtimeMs} ${ino} ${content}`;
    })
    .sort();
}

export function briefly(changes: readonly StagedChange[]): string[] {
  return changes.map(({ kind, path }) => `${kind} ${path}`);
}

/** Both streams, in order. */
export function textOf({ output }: RunResult): string {
  return Buffer.from(output.log.read(0, 1_000_000)).toString();
}

export function check(title: string, run: () => Promise<void>): SandboxCheck {
  return { title, run };
}

export async function until(holds: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!holds()) {
    assert.ok(Date.now() < deadline, 'it did not come true in 20 s');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
