import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createToolwright, type Toolwright } from '../../src/runtime/create-toolwright.ts';
import { createBubblewrap } from '../../src/sandbox/bubblewrap/bubblewrap.ts';
import { builtInTools } from '../../src/tools/index.ts';
import { openWorkspace } from '../../src/workspace/open-workspace.ts';
import { ripgrepFolder } from '../../src/workspace/search/ripgrep.ts';
import type { Attack } from './attack.ts';
import { filePolicyFor, policyFor } from './command-world.ts';
import type { Fixture } from './fixture.ts';

export interface FileWorld {
  readonly toolwright: Toolwright;
  readonly asked: string[];
  close(): Promise<void>;
}

/** Opens workspace and tools for a case. The person denies, unless `approve` is set because the case needs approval. */
export async function openFileWorld(fixture: Fixture, { approve }: { approve: boolean }): Promise<FileWorld> {
  const { folder, workspace, attack } = fixture;
  const { linkedWorkspace: linked } = fixture.settings;
  if (linked !== null) symlinkSync(workspace, linked);
  const stateDir = join(folder, 'state');
  mkdirSync(stateDir, { recursive: true });
  const searches = attack.tool === 'grep' || attack.tool === 'glob';
  const policy = filePolicyFor(fixture);
  const sandbox = searches
    ? createBubblewrap({
        filePolicy: policy,
        path: process.env['PATH'] ?? '',
        home: join(folder, 'home'),
        stateDir,
        readOnlyFolders: [await ripgrepFolder()],
      })
    : undefined;
  const world = await openWorkspace({
    root: linked ?? workspace,
    policy,
    journal: { folder: join(stateDir, 'journal') },
    ...(sandbox && { sandbox }),
  });
  const asked: string[] = [];
  const toolwright = createToolwright({
    tools: builtInTools,
    world,
    policy: policyFor(fixture),
    approver: ({ reason }) => {
      asked.push(reason);
      return { approved: approve };
    },
  });
  return {
    toolwright,
    asked,
    async close() {
      world.close();
      await sandbox?.close();
    },
  };
}

/** Expands generators such as `{"$gen": "20 MB of \"new\""}` in the input. */
export function generateInput({ input }: Attack): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [key, generate(value)]));
}

function generate(value: unknown): unknown {
  const wish = (value as { $gen?: string } | null)?.$gen;
  if (wish === undefined) return value;
  const size = Number(/(\d+) ?MB/.exec(wish)?.[1] ?? 1) * 1024 * 1024;
  const word = /"(\w+)"/.exec(wish)?.[1] ?? 'x';
  return word.repeat(Math.ceil(size / word.length)).slice(0, size);
}
