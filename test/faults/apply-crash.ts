import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Change } from '../../src/kernel/world/workspace.ts';
import { tempStage, treeListing } from '../../src/testing/temp-stage.ts';
import { type TempWorkspace, tempWorkspace } from '../../src/testing/temp-workspace.ts';
import { openWorkspace } from '../../src/workspace/open-workspace.ts';

const source = (path: string) => new URL(path, import.meta.url);

/** Applies the changes that it is sent, and dies at the n-th failpoint or when it is told to. */
const SCRIPT = `
  import { armFailpoints } from '${source('../../src/kernel/failpoint.ts')}';
  import { tempStage } from '${source('../../src/testing/temp-stage.ts')}';
  import { openWorkspace } from '${source('../../src/workspace/open-workspace.ts')}';
  process.on('message', async ({ root, folder, stage, changes, at }) => {
    const world = await openWorkspace({ root, journal: { folder } });
    let passed = 0;
    armFailpoints(() => ++passed === at && process.kill(process.pid, 'SIGKILL'));
    process.send('begun');
    const { ok } = await tempStage(world, stage).apply(changes);
    world.close();
    process.send({ ok, passed });
  });
  process.send('ready');`;

/** A workspace, and changes of every kind that wait to be kept. */
interface CrashScene {
  readonly ws: TempWorkspace;
  readonly stage: string;
  readonly changes: readonly Change[];
  readonly before: Record<string, string>;
  readonly pending: Record<string, string>;
}

async function scene(parent?: string): Promise<CrashScene & AsyncDisposable> {
  const files = {
    'a.txt': 'a',
    'b/c.txt': 'c',
    'm.sh': 'm',
    f2d: 'f',
    'd2f/in': 'i',
    'tree/x/y': 'y',
    'gone.txt': 'g',
  };
  const ws = await tempWorkspace({ files });
  symlinkSync('a.txt', ws.file('link'));
  const folder = parent === undefined ? join(ws.outside, 'stage') : mkdtempSync(join(parent, 'stage-'));
  const stage = tempStage(ws.workspace, folder);
  for (const path of ['a.txt', 'b/c.txt', 'new.txt', 'n/e/w', 'dir/in/side', 'f2d/in', 'd2f'])
    stage.put(path, `new ${path}`);
  stage.put('link', { target: 'm.sh' });
  const changes: Change[] = [
    ...(await Promise.all(['a.txt', 'b/c.txt', 'new.txt', 'n/e/w', 'dir', 'link'].map((path) => stage.take(path)))),
    { kind: 'mode', path: 'm.sh', mode: 0o755, expect: { version: null } },
    ...(await Promise.all(['f2d', 'd2f', 'tree', 'gone.txt'].map((path) => stage.remove(path)))),
    await stage.take('f2d/in', { expect: 'absent' }),
    await stage.take('d2f', { expect: 'absent' }),
  ];
  const about = { before: treeListing(ws.root), pending: treeListing(folder) };
  return {
    ...{ ws, stage: folder, changes, ...about },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
      await ws[Symbol.asyncDispose]();
    },
  };
}

async function ready() {
  const node = ['--import', 'tsx', '--input-type=module', '-e', SCRIPT];
  const child = spawn(process.execPath, node, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return child;
}

/** The outcome of a kill: all, which an undo takes back, or nothing with the stage as it was; anything between in words. */
async function lookAfter({ ws, before, stage, pending }: CrashScene): Promise<'all' | 'nothing' | string[]> {
  for (const _ of [1, 2]) (await openWorkspace({ root: ws.root, journal: { folder: ws.journal } })).close();
  const now = treeListing(ws.root);
  if (now['a.txt'] === before['a.txt']) {
    const wrong = [...differing('workspace', now, before), ...differing('stage', treeListing(stage), pending)];
    return wrong.length > 0 ? wrong : 'nothing';
  }
  const wrong = differing('workspace', now, AFTER);
  const world = await openWorkspace({ root: ws.root, journal: { folder: ws.journal } });
  const undone = await world.undo('command');
  world.close();
  if (!undone.ok) wrong.push(`undo: ${undone.error.message}`);
  wrong.push(...differing('undone workspace', treeListing(ws.root), before));
  return wrong.length > 0 ? wrong : 'all';
}

function differing(what: string, now: Record<string, string>, wanted: Record<string, string>): string[] {
  const paths = [...new Set([...Object.keys(now), ...Object.keys(wanted)])];
  return paths.flatMap((path) =>
    now[path] === wanted[path] ? [] : [`${what}: ${path} is ${now[path]}, not ${wanted[path]}`],
  );
}

const AFTER = {
  'a.txt': 'file 644 new a.txt',
  b: 'folder 755',
  'b/c.txt': 'file 644 new b/c.txt',
  d2f: 'file 644 new d2f',
  dir: 'folder 755',
  'dir/in': 'folder 755',
  'dir/in/side': 'file 644 new dir/in/side',
  f2d: 'folder 755',
  'f2d/in': 'file 644 new f2d/in',
  link: 'symlink m.sh',
  'm.sh': 'file 755 m',
  n: 'folder 755',
  'n/e': 'folder 755',
  'n/e/w': 'file 644 new n/e/w',
  'new.txt': 'file 644 new new.txt',
};

/** How an apply is ended: at its n-th step, or that many milliseconds after it began. */
export type KillMoment = { readonly step: number } | { readonly afterMs: number };

export interface KilledApply {
  readonly state: 'all' | 'nothing' | 'between';
  /** It ended before it was killed. */
  readonly isLate: boolean;
  readonly problems: readonly string[];
}

/** Kills a process that keeps changes, lets the workspace recover, and tells what is left. `parent` is where the stage lies. */
export async function killApply(moment: KillMoment, parent?: string): Promise<KilledApply> {
  await using given = await scene(parent);
  const child = await ready();
  const ended = once(child, 'exit');
  let isLate = false;
  const begun = once(child, 'message');
  child.on('message', (message) => {
    if (typeof message !== 'object') return;
    isLate = true;
    child.kill();
  });
  const at = 'step' in moment ? moment.step : 0;
  child.send({ root: given.ws.root, folder: given.ws.journal, stage: given.stage, changes: given.changes, at });
  await begun;
  if ('afterMs' in moment) {
    await delay(moment.afterMs);
    child.kill('SIGKILL');
  }
  await ended;
  const state = await lookAfter(given);
  if (typeof state === 'string') return { state, isLate, problems: [] };
  return { state: 'between', isLate, problems: state.map((each) => `killed ${JSON.stringify(moment)}: ${each}`) };
}

/** Every second one at a step, the others at a moment. Returns how many were killed before the end, and all problems. */
export async function killApplies(count: number): Promise<{ killed: number; all: number; problems: string[] }> {
  const sum = { killed: 0, all: 0, problems: [] as string[] };
  const lane = async (first: number): Promise<void> => {
    for (let round = first; round < count; round += 4) {
      const moment = round % 8 < 4 ? { step: 1 + ((round * 31) % STEPS) } : { afterMs: (round * 7919) % 60 };
      const { state, isLate, problems } = await killApply(moment);
      if (!isLate) sum.killed++;
      if (state === 'all') sum.all++;
      sum.problems.push(...problems);
    }
  };
  await Promise.all([0, 1, 2, 3].map(lane));
  return sum;
}

/** More steps than an apply of the scene has. */
const STEPS = 45;
