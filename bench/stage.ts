import { execFileSync, fork } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { prepareUser } from '../scripts/as-user.mjs';
import { removeTree } from '../src/host/remove-tree.ts';
import { createFilePolicy } from '../src/kernel/world/file-policy.ts';
import type { RunRequest, RunResult, Sandbox } from '../src/kernel/world/sandbox.ts';
import type { Change, Files } from '../src/kernel/world/workspace.ts';
import { createBubblewrap } from '../src/sandbox/bubblewrap/bubblewrap.ts';
import { openWorkspace } from '../src/workspace/open-workspace.ts';
import { atMost, type Benchmark, type Measurement, median, reported } from './benchmark.ts';
import type { BeforeAnswer, BeforeOrder } from './programs/stage.before.ts';

const ROUNDS = 15;
const KEEPING_ROUNDS = 5;
const NEW_FILES = 2_000;
const LISTED_CHANGED = 500;
const CHANGED_FILES = 100;
/** The last commit of 0.1.0, whose commands wrote to the live files. STAGE_BEFORE names a folder of its sources instead. */
const BEFORE = '819fa91e0660ddd50588f2a9891bcc2efbcce96f';
const repository = join(import.meta.dirname, '..');

export const benchmark: Benchmark = {
  about: 'a command in a stage beside the live runs of 0.1.0, the list of its changes, and keeping them',
  async run() {
    const results = await measureStages();
    if (process.getuid?.() !== 0) return results;
    return [...results, ...asOrdinaryUser().map((each) => ({ ...each, what: `as an ordinary user: ${each.what}` }))];
  },
};

/** As whoever calls it. */
export async function measureStages(): Promise<Measurement[]> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bench-stage-')));
  const options = { path: process.env['PATH'] ?? '', home: join(root, 'home'), stateDir: join(root, 'state') };
  mkdirSync(options.stateDir);
  const sandbox = createBubblewrap({ ...options, filePolicy: createFilePolicy() });
  const before = startBefore(root);
  try {
    const run = await stagedRun(sandbox);
    const world = { sandbox, run, before, root };
    return [...(await commands(world)), ...(await lists(world)), ...(await keeping(world))];
  } finally {
    before.stop();
    await sandbox.close();
    removeTree(root);
  }
}

function asOrdinaryUser(): Measurement[] {
  const user = prepareUser({ add: sourcesBefore });
  const results = join(user.home, 'results.json');
  try {
    const args = ['--import', 'tsx', '--expose-gc', 'bench/programs/stage.user.ts', results];
    if (user.run(args, { STAGE_BEFORE: join(user.home, 'before') }) !== 0) throw new Error('It failed for a user.');
    return JSON.parse(readFileSync(results, 'utf8'));
  } finally {
    user.remove();
  }
}

interface StageBench {
  readonly sandbox: Sandbox;
  readonly run: StagedRun;
  readonly before: VersionBefore;
  readonly root: string;
}

/** Runs the version before in a process of its own; answers with the milliseconds that an order took there. */
interface VersionBefore {
  measure(order: BeforeOrder): Promise<number>;
  stop(): void;
}

function startBefore(root: string): VersionBefore {
  const state = join(root, 'before-state');
  mkdirSync(state);
  const program = join(import.meta.dirname, 'programs', 'stage.before.ts');
  const child = fork(program, [sourcesBefore(root), state], { execArgv: ['--import', 'tsx'] });
  return {
    measure(order) {
      return new Promise((resolve, reject) => {
        child.once('message', (answer: BeforeAnswer) => {
          if ('error' in answer) reject(new Error(answer.error));
          else resolve(answer.ms);
        });
        child.send(order);
      });
    },
    stop: () => child.disconnect(),
  };
}

function sourcesBefore(root: string): string {
  const given = process.env['STAGE_BEFORE'];
  if (given !== undefined) return given;
  const sources = join(root, 'before');
  mkdirSync(sources);
  const archive = ['archive', '--format=tar', BEFORE, 'src', 'package.json', 'tsconfig.json'];
  const tar = execFileSync('git', ['-C', repository, ...archive], { maxBuffer: 2 ** 28 });
  execFileSync('tar', ['-x', '-C', sources], { input: tar });
  symlinkSync(join(repository, 'node_modules'), join(sources, 'node_modules'));
  return sources;
}

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
async function commands({ sandbox, run, before, root }: StageBench): Promise<Measurement[]> {
  const trees = {
    small: tree(root, 'small', { files: 1_000, secrets: 0 }),
    usual: tree(root, 'usual', { files: 50_000, secrets: 20 }),
    large: tree(root, 'large', { files: 100_000, secrets: 0 }),
    hidden: tree(root, 'hidden', { files: 1_000, secrets: 900 }),
  };
  settled(root);
  const read = async (workspace: string): Promise<void> => {
    const ran = await sandbox.run({ command: ['true'], workspace, mounts: 'read', tag: 'b' });
    if (ran.ok) ran.value.output.log.dispose();
  };
  const times = await inTurn(ROUNDS, {
    live: () => before.measure({ run: trees.usual }),
    read: () => milliseconds(() => read(trees.usual)),
    staged: () => milliseconds(() => run(trees.usual, 'true')),
    small: () => milliseconds(() => run(trees.small, 'true')),
    large: () => milliseconds(() => run(trees.large, 'true')),
    hidden: () => milliseconds(() => run(trees.hidden, 'true')),
  });
  return [
    reported('true among 50,000 files with 20 secrets, staged, against read', times.staged, 'ms', times.read),
    reported('the same, staged, against live in 0.1.0', times.staged, 'ms', times.live),
    atMost('staged against live in 0.1.0', times.staged / times.live, 'x', 0.3),
    atMost('staged against read', times.staged / times.read, 'x', 1.2),
    atMost('900 secrets against none, staged', times.hidden / times.small, 'x', 2),
    atMost('100,000 files against 1,000, staged', times.large / times.small, 'x', 1.1),
  ];
}

/** The time of a list is that of a comparison of its stage, without that of an untouched stage. */
async function lists({ sandbox, run, root }: StageBench): Promise<Measurement[]> {
  const workspace = tree(root, 'listed', { files: 1_000, secrets: 0 });
  const large = join(root, 'usual');
  const make = `mkdir n; for i in $(seq ${NEW_FILES}); do echo $i >n/$i; done`;
  const change = `for i in $(seq 0 ${LISTED_CHANGED - 1}); do echo x >>f0/$i; done`;
  const stages = {
    none: await run(workspace, 'true'),
    created: await run(workspace, make),
    modified: await run(workspace, change),
    noneLarge: await run(large, 'true'),
    createdLarge: await run(large, make),
  };
  settled(root);
  const compare = ({ stage }: { stage: string }, of: string) =>
    milliseconds(async () => {
      const compared = await sandbox.compare({ workspace: of, stage: { folder: stage } });
      if (!compared.ok) throw new Error(compared.error.message);
    });
  const times = await inTurn(9, {
    none: () => compare(stages.none, workspace),
    created: () => compare(stages.created, workspace),
    modified: () => compare(stages.modified, workspace),
    noneLarge: () => compare(stages.noneLarge, large),
    createdLarge: () => compare(stages.createdLarge, large),
  });
  const created = times.created - times.none;
  return [
    atMost('list of changes, for each created file', (created * 1000) / NEW_FILES, 'us', 20),
    atMost(
      'list of changes, for each modified file',
      ((times.modified - times.none) * 1000) / LISTED_CHANGED,
      'us',
      200,
    ),
    atMost('list among 50,000 files against 1,000', (times.createdLarge - times.noneLarge) / created, 'x', 1.5),
  ];
}

/** Keeping files against writing as many through a journal, and changed ones against the same steps in plain Node. */
async function keeping({ run, before, root }: StageBench): Promise<Measurement[]> {
  const journal = { folder: join(root, 'journal') };
  let count = 0;
  const folder = (): string => tree(root, `kept${count++}`, { files: 1_000, secrets: 0 });
  const intoNew = `mkdir n; for i in $(seq ${NEW_FILES}); do echo $i >n/$i; done`;
  const intoOld = `for i in $(seq ${NEW_FILES}); do echo $i >f0/n$i; done`;
  const change = `for i in $(seq 0 ${CHANGED_FILES - 1}); do echo x >>f0/$i; done`;
  const keep = async (script: string): Promise<number> => {
    const workspace = folder();
    const staged = await run(workspace, script);
    return timeOf(workspace, journal, (files) => files.apply(toTakes(staged)));
  };
  const times = await inTurn(KEEPING_ROUNDS, {
    newFolder: () => keep(intoNew),
    newFiles: () => keep(intoOld),
    before: () => before.measure({ write: settled(folder()), journal: join(root, 'before-journal'), files: NEW_FILES }),
    writes: () => timeOf(folder(), journal, (files) => files.apply(newTexts())),
    changed: () => keep(change),
    plain: async () => {
      const workspace = folder();
      return plainSteps(await run(workspace, change), workspace, join(root, 'plain-journal'));
    },
  });
  const what = `${NEW_FILES} new files`;
  return [
    reported(
      `keeping ${what} of a new folder, against writing them through the journal of 0.1.0`,
      times.newFolder,
      'ms',
      times.before,
    ),
    atMost(`keeping ${what} of a new folder against the journal of 0.1.0`, times.newFolder / times.before, 'x', 0.05),
    reported(`keeping ${what} in an old folder, against the journal of 0.1.0`, times.newFiles, 'ms', times.before),
    atMost(`keeping ${what} in an old folder against the journal of 0.1.0`, times.newFiles / times.before, 'x', 0.05),
    reported(
      `keeping ${what} of a new folder, against writing them through our journal`,
      times.newFolder,
      'ms',
      times.writes,
    ),
    reported(
      `keeping ${CHANGED_FILES} changed files, against the same steps in plain Node`,
      times.changed,
      'ms',
      times.plain,
    ),
    atMost(
      `keeping ${CHANGED_FILES} changed files against the same steps in plain Node`,
      times.changed / times.plain,
      'x',
      1.5,
    ),
  ];
}

function newTexts(): Change[] {
  return Array.from({ length: NEW_FILES }, (_, index): Change => {
    return { kind: 'write', path: `n/${index}`, content: { text: `${index}\n` }, expect: 'absent' };
  });
}

/**
 * By hand, for each file: read both, keep the old one by a second name, copy the new one beside it. Then one line of a
 * log, the renames, and one sync of the file system.
 */
function plainSteps({ staged }: RunResult, workspace: string, images: string): Promise<number> {
  mkdirSync(images, { recursive: true });
  const paths = (staged?.changes ?? []).map(({ path }) => path);
  const content = staged?.content ?? '';
  settled(workspace);
  return milliseconds(async () => {
    for (const [at, path] of paths.entries()) {
      for (const each of [join(content, path), join(workspace, path)]) readFileSync(each);
      const image = join(images, String(at));
      rmSync(image, { force: true });
      linkSync(join(workspace, path), image);
      const beside = join(workspace, `${path}.new`);
      copyFileSync(join(content, path), beside);
      chmodSync(beside, 0o644);
    }
    writeFileSync(join(images, 'log'), JSON.stringify(paths));
    for (const path of paths) renameSync(join(workspace, `${path}.new`), join(workspace, path));
    execFileSync('sync', ['-f', workspace]);
  });
}

/** A folder that is new as a whole comes as one take, as a person's yes to all of it is turned into changes. */
function toTakes({ staged }: RunResult): Change[] {
  const changes = staged?.changes ?? [];
  const folders = new Set(changes.filter(({ after }) => after?.type === 'directory').map(({ path }) => path));
  return changes
    .filter(({ path }) => !folders.has(path.split('/').slice(0, -1).join('/')))
    .map(({ path, before, after }): Change => {
      const expect = before === null ? 'absent' : { version: before.version ?? '' };
      const from = join(staged?.content ?? '', path);
      return { kind: 'take', path, from, expect, content: { version: after?.version ?? null } };
    });
}

async function timeOf(
  root: string,
  journal: { folder: string },
  work: (files: Files) => Promise<{ readonly ok: boolean }>,
): Promise<number> {
  const workspace = await openWorkspace({ root: settled(root), journal });
  const { signal } = new AbortController();
  const caller = { callId: 'bench', session: 'bench', workingDir: root, timeout: 600, signal };
  const files = workspace.files({ ...caller, admitted: [{ kind: 'unknown' }] });
  const time = await milliseconds(async () => {
    const done = await work(files);
    if (!done.ok) throw new Error(JSON.stringify(done));
  });
  workspace.close();
  return time;
}

/** Files that the benchmark itself has made are on the disk before a sync is measured. */
function settled(folder: string): string {
  execFileSync('sync', ['-f', folder]);
  return folder;
}

/** Median milliseconds of each way. */
async function inTurn<Name extends string>(
  rounds: number,
  ways: Record<Name, () => Promise<number>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(ways) as Name[];
  const times = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = -2; round < rounds; round++) {
    for (const name of names) {
      // Apart, as calls of an agent are: the next run finds its process waiting.
      await delay(50);
      const time = await ways[name]();
      if (round >= 0) times[name].push(time);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times[name])])) as Record<Name, number>;
}

function tree(root: string, name: string, { files, secrets }: { files: number; secrets: number }): string {
  const top = join(root, name);
  for (let folder = 0; folder < files / 500; folder++) {
    mkdirSync(join(top, `f${folder}`), { recursive: true });
    for (let file = 0; file < 500; file++) writeFileSync(join(top, `f${folder}/${file}`), `${file}\n`);
  }
  // Half by their names, half by their content.
  for (let at = 0; at < secrets; at++) {
    const place = join(top, `f${at % (files / 500)}/${at}`);
    if (at % 2 === 0) writeFileSync(`${place}.env`, 'A=1\n');
    else writeFileSync(`${place}.txt`, `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}\n`);
  }
  return top;
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
