import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { removeTree } from '../host/remove-tree.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import { createFilePolicy, type FilePolicy } from '../kernel/world/file-policy.ts';
import type { NetworkAccess, Sandbox } from '../kernel/world/sandbox.ts';
import type { World } from '../kernel/world/workspace.ts';
import { createProcesses } from '../processes/create-processes.ts';
import { createToolwright, type Toolwright, type ToolwrightOptions } from '../runtime/create-toolwright.ts';
import { createStages } from '../stages/create-stages.ts';
import { builtInTools } from '../tools/index.ts';
import { openWorkspace, type Workspace } from '../workspace/open-workspace.ts';

/**
 * A temporary workspace with a journal beside it, a folder outside it, and an executor whose approver always approves.
 */
export interface TempWorkspace extends AsyncDisposable {
  /** Contains all three folders. */
  readonly top: string;
  readonly root: string;
  readonly outside: string;
  readonly journal: string;
  readonly workspace: Workspace;
  /** The workspace, with commands where there is a sandbox. */
  readonly world: World;
  readonly toolwright: Toolwright;
  /** Approval reasons, in order. */
  readonly asked: string[];
  file(path: string): string;
  call(tool: string, args: Record<string, unknown>): Promise<ToolResult>;
}

export interface TempOptions {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** For file tools. Left out: the built-in table. */
  readonly filePolicy?: FilePolicy;
  /** Runs search and commands, where given. */
  readonly sandbox?: Sandbox;
  readonly network?: NetworkAccess;
  readonly journal?: boolean;
  readonly approve?: boolean;
  readonly options?: ToolwrightOptions;
  readonly parent?: string;
}

export async function tempWorkspace(given: TempOptions = {}): Promise<TempWorkspace> {
  const top = mkdtempSync(join(given.parent ?? tmpdir(), 'toolwright-test-'));
  const [root, outside, journal] = ['ws', 'out', 'state'].map((name) => join(top, name)) as [string, string, string];
  for (const folder of [root, outside]) mkdirSync(folder);
  for (const [path, content] of Object.entries(given.files ?? {})) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  const workspace = await openWorkspace({
    root,
    ...(given.journal !== false && { journal: { folder: journal } }),
    ...(given.sandbox && { sandbox: given.sandbox }),
    ...(given.filePolicy && { policy: given.filePolicy }),
  });
  const { sandbox, network } = given;
  const processes =
    sandbox &&
    createProcesses({
      sandbox,
      stages: createStages({ sandbox, policy: createFilePolicy(), home: top }),
      ...(network && { network }),
    });
  const world = processes?.addTo(workspace) ?? workspace;
  const asked: string[] = [];
  const toolwright = createToolwright({
    tools: builtInTools,
    world,
    approver: ({ reason }) => {
      asked.push(reason);
      return { approved: given.approve !== false };
    },
    ...given.options,
  });
  return {
    top,
    root,
    outside,
    journal,
    workspace,
    world,
    toolwright,
    asked,
    file: (path) => join(root, path),
    call: (tool, args) => toolwright.call(tool, args),
    async [Symbol.asyncDispose]() {
      await processes?.close();
      workspace.close();
      removeTree(top);
    },
  };
}

const NOBODY = 65_534;

/** Permissions stop everybody but root: as root, the folders are given to somebody else, who does the work. */
export async function asOrdinaryUser(folders: readonly string[], work: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return work();
  execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, ...folders]);
  process.seteuid?.(NOBODY);
  try {
    await work();
  } finally {
    process.seteuid?.(0);
  }
}
