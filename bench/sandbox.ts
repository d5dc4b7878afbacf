import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { installSystem } from '../scripts/install-system.mjs';
import { createFilePolicy } from '../src/kernel/world/file-policy.ts';
import { DEFAULT_LIMITS, type RunRequest, type Sandbox } from '../src/kernel/world/sandbox.ts';
import { createBubblewrap } from '../src/sandbox/bubblewrap/bubblewrap.ts';
import { runArguments, systemArguments } from '../src/sandbox/bubblewrap/mounts.ts';
import { createRuntimeFolder } from '../src/sandbox/bubblewrap/runtime-folder.ts';
import { seccompFilter } from '../src/sandbox/bubblewrap/seccomp.ts';
import { findToolchains } from '../src/sandbox/toolchains.ts';
import { atMost, type Benchmark, type Measurement, median, reported, timesLess, timesTheLimit } from './benchmark.ts';

const ROUNDS = 30;
const FILES = 50_000;
const GIGABYTE = 1024 ** 3;

export const benchmark: Benchmark = {
  about: 'what a sandboxed command costs, and a flood of output',
  async run() {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'bench-sandbox-')));
    const host = { path: process.env['PATH'] ?? '', home: join(root, 'home'), stateDir: root };
    const sandbox = createBubblewrap({ ...host, filePolicy: createFilePolicy() });
    try {
      const status = await sandbox.status();
      if (!status.ok) throw new Error(status.error.message);
      return [...(await commands(sandbox, root, host)), ...(await flood(sandbox, root))];
    } finally {
      await sandbox.close();
      rmSync(root, { recursive: true, force: true });
    }
  },
};

/** All ways in turn, so that what else the machine does falls on each alike. */
async function commands(sandbox: Sandbox, root: string, host: { path: string; home: string }): Promise<Measurement[]> {
  const empty = folder(root, 'empty');
  const large = largeTree(root);
  const plain = await plainBubblewrap(root, host, empty);
  const peer = await startPeer(empty);
  const status = await sandbox.status();
  if (!status.ok) throw new Error(status.error.message);
  const stages = status.value.stages.folder ?? root;
  const read = (workspace: string): RunRequest => ({ command: ['true'], workspace, mounts: 'read', tag: 'bench' });
  const staged = (workspace: string): RunRequest => ({
    ...read(workspace),
    mounts: 'staged',
    stage: { folder: mkdtempSync(join(stages, 'bench-')) },
  });
  const first = await milliseconds(() => sandbox.run(staged(large)));
  const ways = {
    spawn: () => exit('true', []),
    plain: plain.run,
    read: () => sandbox.run(read(empty)),
    staged: () => sandbox.run(staged(empty)),
    large: () => sandbox.run(read(large)),
    largeStaged: () => sandbox.run(staged(large)),
    peer: peer.run,
  };
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, [] as number[]]));
  for (let round = -3; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries(ways)) {
      // Apart, as calls of an agent are: the next run finds its process waiting.
      await new Promise((resolve) => setTimeout(resolve, 20));
      const time = await milliseconds(run);
      if (round >= 0) times[name]?.push(time);
    }
  }
  await peer.stop();
  plain.remove();
  const middle = (name: keyof typeof ways) => median(times[name] ?? []);
  return [
    reported('true, bare spawn', middle('spawn'), 'ms'),
    reported('true, plain bwrap with the same mounts', middle('plain'), 'ms'),
    timesLess('true, sandboxed, read, against sandbox-runtime', middle('read'), middle('peer'), 'ms', 4),
    atMost('above plain bwrap, read, empty workspace', middle('read') - middle('plain'), 'ms', 3),
    reported('true, sandboxed, staged, empty workspace', middle('staged'), 'ms', middle('peer')),
    atMost(`true, sandboxed, read, masks among ${FILES} files`, middle('large'), 'ms', 60),
    atMost(`true, sandboxed, staged, masks among ${FILES} files`, middle('largeStaged'), 'ms', 60),
    reported(`the first run among ${FILES} files`, first, 'ms'),
  ];
}

/** Into our hands against into the null device, in the same sandbox. */
async function flood(sandbox: Sandbox, root: string): Promise<Measurement[]> {
  const workspace = folder(root, 'flood');
  const measured: Measurement[] = [];
  const programs = { 'numbered lines': `seq 1 200000000 | head -c ${GIGABYTE}`, yes: `yes | head -c ${GIGABYTE}` };
  for (const [name, program] of Object.entries(programs)) {
    const run = async (script: string): Promise<number> => {
      const startedAt = performance.now();
      const request = { command: { script }, workspace, mounts: 'read', tag: 'bench' } as const;
      const result = await sandbox.run({ ...request, onOutput: () => {} });
      if (!result.ok || result.value.exitCode !== 0)
        throw new Error(`the flood ended early: ${JSON.stringify(result)}`);
      result.value.output.log.dispose();
      return performance.now() - startedAt;
    };
    await run(`${program} >/dev/null`);
    globalThis.gc?.();
    const before = process.memoryUsage().rss;
    const lag = monitorEventLoopDelay({ resolution: 5 });
    const [ours, nowhere]: [number[], number[]] = [[], []];
    let grown = 0;
    for (let round = 0; round < 3; round++) {
      nowhere.push(await run(`${program} >/dev/null`));
      lag.enable();
      ours.push(await run(program));
      lag.disable();
      grown = Math.max(grown, process.memoryUsage().rss - before);
    }
    const goal = name === 'yes' ? undefined : 1.5;
    measured.push(
      timesTheLimit(`1 GB of ${name}, against into /dev/null`, median(ours), median(nowhere), 'ms', goal),
      atMost(`1 GB of ${name}, memory growth`, grown / 2 ** 20, 'MB', 100),
      atMost(`1 GB of ${name}, event loop p99`, lag.percentile(99) / 1e6, 'ms', 50),
    );
  }
  return measured;
}

function folder(root: string, name: string): string {
  const path = join(root, name);
  mkdirSync(path);
  return path;
}

/** 50,000 files in 2,500 folders, twenty of which hold something to hide. */
function largeTree(root: string): string {
  const tree = folder(root, 'large');
  for (let i = 0; i < 50; i++) {
    for (let j = 0; j < 50; j++) {
      const path = join(tree, `package-${i}`, `module-${j}`);
      mkdirSync(path, { recursive: true });
      for (let k = 0; k < FILES / 2_500; k++) writeFileSync(join(path, `file-${k}.ts`), '');
    }
    if (i % 5 === 0) writeFileSync(join(tree, `package-${i}`, '.env'), 'KEY=1');
    if (i % 5 === 1) writeFileSync(join(tree, `package-${i}`, 'server.pem'), 'KEY');
  }
  return tree;
}

/** The same namespaces, mounts and filter as ours, started by hand. */
async function plainBubblewrap(root: string, host: { path: string; home: string }, workspace: string) {
  const user = { uid: process.getuid?.() || 1000, gid: process.getgid?.() || 1000 };
  const runtime = await createRuntimeFolder(root, { ...user, seccomp: seccompFilter(process.arch) });
  const given = {
    folder: runtime,
    workspace,
    alias: null,
    limits: DEFAULT_LIMITS,
    inWorkspace: ['--ro-bind', workspace, workspace],
    toolchainSecrets: [],
  };
  const args = [
    ...systemArguments({
      folder: runtime,
      ...user,
      cgroupNamespace: 'inside',
    }),
    ...runArguments({ ...given, readOnlyFolders: findToolchains({ ...host, isSecret: () => false }).folders }),
    ...['--clearenv', '--chdir', workspace, ...(runtime.seccomp === null ? [] : ['--seccomp', '3'])],
    ...['--', '/bin/true'],
  ];
  return {
    run: () => exit('/usr/bin/bwrap', args, runtime.seccomp ?? undefined),
    remove: runtime.remove,
  };
}

/** @anthropic-ai/sandbox-runtime, as its documentation says to use it. */
async function startPeer(workspace: string): Promise<{ run(): Promise<void>; stop(): Promise<void> }> {
  installSystem({ peer: true });
  const { SandboxManager } = await import('@anthropic-ai/sandbox-runtime');
  const filesystem = { denyRead: [], allowWrite: [workspace], denyWrite: [] };
  await SandboxManager.initialize({ network: { allowedDomains: [], deniedDomains: [] }, filesystem });
  return {
    async run() {
      const wrapped = await SandboxManager.wrapWithSandbox('true');
      await exit('/bin/sh', ['-c', wrapped], undefined, workspace);
    },
    stop: () => SandboxManager.reset(),
  };
}

function exit(program: string, args: readonly string[], passed?: string, cwd = '/'): Promise<void> {
  const fd = passed === undefined ? null : openSync(passed, 'r');
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'inherit', ...(fd === null ? [] : [fd])] });
    if (fd !== null) closeSync(fd);
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`))));
  });
}

async function milliseconds(run: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
