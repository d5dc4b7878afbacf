import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFilePolicy } from '../src/kernel/world/file-policy.ts';
import type { RunRequest, RunResult, Sandbox } from '../src/kernel/world/sandbox.ts';
import type { Change, Files } from '../src/kernel/world/workspace.ts';
import { createBubblewrap } from '../src/sandbox/bubblewrap/bubblewrap.ts';
import { openWorkspace } from '../src/workspace/open-workspace.ts';
import { atMost, type Benchmark, type Measurement, median, reported } from './benchmark.ts';

const ROUNDS = 15;
const NEW_FILES = 2_000;
const CHANGED_FILES = 500;

export const benchmark: Benchmark = {
  about: 'a command in a stage, the list of its changes, and keeping them',
  async run() {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'bench-stage-')));
    const options = { path: process.env['PATH'] ?? '', home: join(root, 'home'), stateDir: join(root, 'state') };
    mkdirSync(options.stateDir);
    const sandbox = createBubblewrap({ ...options, filePolicy: createFilePolicy() });
    try {
      const run = await stagedRun(sandbox);
      return [...(await commands(sandbox, run, root)), ...(await lists(run, root)), ...(await keeping(run, root))];
    } finally {
      await sandbox.close();
      rmSync(root, { recursive: true, force: true });
    }
  },
};

type StagedRun = (workspace: string, script: string) => Promise<RunResult & { readonly stage: string }>;

async function stagedRun(sandbox: Sandbox): Promise<StagedRun> {
  const status = await sandbox.status();
  if (!status.ok) throw new Error(status.error.message);
  const { folder } = status.value.stages;
  if (folder === null) throw new Error('There are no stages here.');
  return async (workspace, script) => {
    const stage = mkdtempSync(join(folder, 'bench-'));
    const request: RunRequest = {
      command: { script },
      workspace,
      mounts: 'staged',
      stage: { folder: stage },
      tag: 'b',
    };
    const ran = await sandbox.run(request);
    if (!ran.ok) throw new Error(ran.error.message);
    ran.value.output.log.dispose();
    return { ...ran.value, stage };
  };
}

/** All ways in turn, so that other work of the machine falls on each alike. */
async function commands(sandbox: Sandbox, run: StagedRun, root: string): Promise<Measurement[]> {
  const trees = {
    small: tree(root, 'small', { files: 1_000, secrets: 0 }),
    usual: tree(root, 'usual', { files: 50_000, secrets: 20 }),
    large: tree(root, 'large', { files: 100_000, secrets: 0 }),
    hidden: tree(root, 'hidden', { files: 1_000, secrets: 900 }),
  };
  const read = async (workspace: string): Promise<void> => {
    const ran = await sandbox.run({ command: ['true'], workspace, mounts: 'read', tag: 'b' });
    if (ran.ok) ran.value.output.log.dispose();
  };
  const ways: Record<string, () => Promise<unknown>> = {
    read: () => read(trees.usual),
    staged: () => run(trees.usual, 'true'),
    small: () => run(trees.small, 'true'),
    large: () => run(trees.large, 'true'),
    hidden: () => run(trees.hidden, 'true'),
  };
  const times = new Map(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (let round = -2; round < ROUNDS; round++) {
    for (const [name, way] of Object.entries(ways)) {
      const time = await milliseconds(way);
      if (round >= 0) times.get(name)?.push(time);
    }
  }
  const middle = (name: string) => median(times.get(name) ?? []);
  return [
    reported('true, staged, 20 secrets among 50,000 files', middle('staged'), 'ms', middle('read')),
    atMost('staged against read', middle('staged') / middle('read'), 'x', 1.2),
    atMost('900 secrets against none, staged', middle('hidden') / middle('small'), 'x', 2),
    atMost('100,000 files against 1,000, staged', middle('large') / middle('small'), 'x', 1.1),
  ];
}

/** The time that a list takes is the difference between runs that end with and without changes to list. */
async function lists(run: StagedRun, root: string): Promise<Measurement[]> {
  const workspace = tree(root, 'listed', { files: 1_000, secrets: 0 });
  const make = `mkdir n; for i in $(seq ${NEW_FILES}); do echo $i >n/$i; done`;
  const change = `for i in $(seq 0 ${CHANGED_FILES - 1}); do echo x >>f0/$i; done`;
  const created = await listTime(run, workspace, make);
  const modified = await listTime(run, workspace, change);
  return [
    atMost('list of changes, for each created file', (created * 1000) / NEW_FILES, 'us', 20),
    atMost('list of changes, for each modified file', (modified * 1000) / CHANGED_FILES, 'us', 200),
  ];
}

async function listTime(run: StagedRun, workspace: string, script: string): Promise<number> {
  const differences: number[] = [];
  for (let round = 0; round < 5; round++) {
    const whole = performance.now();
    const ran = await run(workspace, script);
    const total = performance.now() - whole;
    const bare = await milliseconds(() => run(workspace, 'true'));
    differences.push(Math.max(0, total - ran.durationMs - bare));
  }
  return Math.min(...differences);
}

/** Keeping new files against writing the same files one by one through the journal, and against plain Node. */
async function keeping(run: StagedRun, root: string): Promise<Measurement[]> {
  const journal = { folder: join(root, 'journal') };
  const folder = (name: string): string => tree(root, name, { files: 1_000, secrets: 0 });
  const [kept, written, changed, plain] = ['kept', 'written', 'changed', 'plain'].map(folder) as [
    string,
    string,
    string,
    string,
  ];
  const staged = await run(kept, `for i in $(seq ${NEW_FILES}); do echo $i >n$i; done`);
  const takes = await timeOf(kept, journal, (files) => files.apply(toTakes(staged, 'absent')));
  const contents = Array.from({ length: NEW_FILES }, (_, index): Change => {
    return { kind: 'write', path: `n${index}`, content: { text: `${index}\n` }, expect: 'absent' };
  });
  const writes = await timeOf(written, journal, (files) => files.apply(contents));
  const edited = await run(changed, 'for i in $(seq 0 99); do echo x >>f0/$i; done');
  const takesChanged = await timeOf(changed, journal, (files) => files.apply(toTakes(edited, 'present')));
  const steps = await milliseconds(async () => {
    for (let at = 0; at < 100; at++) {
      cpSync(join(edited.staged?.content ?? '', `f0/${at}`), join(plain, `f0/${at}.new`));
      rmSync(join(plain, `f0/${at}`));
      cpSync(join(plain, `f0/${at}.new`), join(plain, `f0/${at}`));
    }
    execFileSync('sync', ['-f', plain]);
  });
  return [
    atMost(`keeping ${NEW_FILES} new files against writing them through the journal`, takes / writes, 'x', 0.05),
    atMost('keeping 100 changed files against the same steps in plain Node', takesChanged / steps, 'x', 1.5),
  ];
}

function toTakes({ staged }: RunResult, was: 'absent' | 'present'): Change[] {
  return (staged?.changes ?? []).map(({ path, before, after }): Change => {
    const expect = was === 'absent' ? 'absent' : { version: before?.version ?? '' };
    return {
      kind: 'take',
      path,
      from: join(staged?.content ?? '', path),
      expect,
      content: { version: after?.version ?? null },
    };
  });
}

async function timeOf(
  root: string,
  journal: { folder: string },
  work: (files: Files) => Promise<unknown>,
): Promise<number> {
  const workspace = await openWorkspace({ root, journal });
  const { signal } = new AbortController();
  const caller = { callId: 'bench', session: 'bench', workingDir: root, timeout: 600, signal };
  const files = workspace.files({ ...caller, admitted: [{ kind: 'unknown' }] });
  const time = await milliseconds(() => work(files));
  workspace.close();
  return time;
}

function tree(root: string, name: string, { files, secrets }: { files: number; secrets: number }): string {
  const top = join(root, name);
  for (let folder = 0; folder < files / 500; folder++) {
    mkdirSync(join(top, `f${folder}`), { recursive: true });
    for (let file = 0; file < 500; file++) writeFileSync(join(top, `f${folder}/${file}`), `${file}\n`);
  }
  for (let at = 0; at < secrets; at++) writeFileSync(join(top, `f${at % (files / 500)}/${at}.env`), 'A=1\n');
  return top;
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
