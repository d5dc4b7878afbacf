import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pidsByVariable } from '../../host/proc.ts';
import { OWN_PROCESS_ID } from '../../host/process-identity.ts';
import { removeTree } from '../../host/remove-tree.ts';
import { createFilePolicy } from '../../kernel/world/file-policy.ts';
import { processesTagged } from '../../testing/sandbox-contract.ts';
import { trySandbox } from '../../testing/try-sandbox.ts';
import { createBubblewrap } from './bubblewrap.ts';

const path = process.env['PATH'] ?? '';

/** Everything of a sandbox that could be left on the host by this process, with mounts below its `folder`. */
function traces(folder?: string): Record<string, unknown> {
  return {
    descriptors: readdirSync('/proc/self/fd').filter((fd) => !isEventQueue(fd)).length,
    mounts: readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .filter((line) => folder !== undefined && line.includes(folder)),
    cgroups: cgroupFolders().filter((name) => name.startsWith(`toolwright-${OWN_PROCESS_ID}-`)),
    processes: pidsByVariable('TOOLWRIGHT_OWNED_BY').filter(([, owner]) => owner === OWN_PROCESS_ID),
    children: readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim(),
  };
}

/** The event loop keeps one for all watches from the first one on. */
function isEventQueue(fd: string): boolean {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === 'anon_inode:inotify';
  } catch {
    return false;
  }
}

function cgroupFolders(): string[] {
  const own = readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  return own.flatMap(([, controller = '', group = '']) => {
    const folder = join('/sys/fs/cgroup', controller === '' ? '' : (controller.split(',').at(0) ?? ''), group);
    return existsSync(folder) ? readdirSync(folder) : [];
  });
}

/** A process of its own with a `sandbox`, for what happens when such a one ends. */
function startProgram(root: string, code: string) {
  const source = (file: string) => new URL(file, import.meta.url).pathname;
  const program = join(root, 'program.mts');
  writeFileSync(
    program,
    `import { mkdtempSync } from 'node:fs';
import { armFailpoints } from '${source('../../kernel/failpoint.ts')}';
import { createFilePolicy } from '${source('../../kernel/world/file-policy.ts')}';
import { createBubblewrap } from '${source('bubblewrap.ts')}';
const options = { filePolicy: createFilePolicy(), path: process.env.PATH, home: '/nonexistent', stateDir: '${root}' };
const sandbox = createBubblewrap(options);
async function newStage() {
  const status = await sandbox.status();
  return { folder: mkdtempSync(status.value.stages.folder + '/stage-') };
}
${code}
`,
  );
  const tsx = new URL('../../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
  const env = { PATH: path, TMPDIR: root, HOME: root };
  return spawn(process.execPath, ['--import', tsx, program], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
}

test('200 commands, 8 at a time, leave nothing behind', async () => {
  const before = traces();
  const at = trySandbox({ path, maxRunning: 8 });
  const mode = (i: number) => (i % 2 === 0 ? 'read' : 'staged') as 'read' | 'staged';
  const runs = Array.from({ length: 200 }, (_, i) =>
    at.sh(`echo ${i} > /tmp/x; cat /tmp/x`, { mounts: mode(i), tag: 'many' }),
  );
  const results = await Promise.all(runs);
  expect(results.map(({ stdout }) => stdout.trim())).toEqual(results.map((_, i) => String(i)));
  expect(readdirSync(at.workspace)).toEqual([]);
  await at.sandbox.close();
  expect(readdirSync(join(at.root, 'state'))).toEqual(['stages']);
  await at[Symbol.asyncDispose]();
  expect(traces(at.root)).toEqual(before);
  expect(processesTagged('many')).toEqual([]);
}, 120_000);

test('500 timeouts and cancels leave nothing behind', async () => {
  const before = traces();
  const at = trySandbox({ path, maxRunning: 16 });
  await at.sandbox.status();
  const endings = await Promise.all(
    Array.from({ length: 500 }, async (_, i) => {
      const script = 'setsid sleep 100 & (sleep 100 &) ; sleep 100';
      if (i % 2 === 0) return (await at.sh(script, { tag: 'ended', limits: { timeMs: 5 + (i % 60) } })).endedBy;
      const controller = new AbortController();
      setTimeout(() => controller.abort(), (i * 37) % 9_000);
      const stage = { folder: await at.stage() };
      const request = { command: { script }, workspace: at.workspace, mounts: 'staged', stage, tag: 'ended' } as const;
      const result = await at.sandbox.run({ ...request, signal: controller.signal });
      return result.ok ? result.value.endedBy : result.error.code;
    }),
  );
  expect(new Set(endings)).toEqual(new Set(['time', 'cancel', 'CANCELLED']));
  expect(readdirSync(at.workspace)).toEqual([]);
  await at[Symbol.asyncDispose]();
  expect(processesTagged('ended')).toEqual([]);
  expect(traces(at.root)).toEqual(before);
}, 180_000);

test('1,000 at once wait for their turn instead of running out of descriptors', async () => {
  const at = trySandbox({ path });
  const results = await Promise.all(
    Array.from({ length: 1_000 }, () =>
      at.sandbox.run({ command: ['true'], workspace: at.workspace, mounts: 'read', tag: 'thousand' }),
    ),
  );
  expect(results.filter((result) => result.ok && result.value.exitCode === 0)).toHaveLength(1_000);
  await at[Symbol.asyncDispose]();
}, 120_000);

test('everything ends when our process is killed, and the next one tidies up after it', async () => {
  const root = mkdtempSync(join(tmpdir(), 'killed-'));
  const tag = `killed-${process.pid}`;
  const child = startProgram(
    root,
    `const script = 'setsid sleep 300 & (sleep 300 &); echo running; sleep 300';
void sandbox.run({ command: { script }, workspace: '${mkdtempSync(join(root, 'ws-'))}', mounts: 'staged', stage: await newStage(), tag: '${tag}', onOutput: () => console.log('running') });`,
  );
  await new Promise((resolve) => child.stdout.once('data', resolve));
  expect(processesTagged(tag).length).toBeGreaterThan(2);

  process.kill(-(child.pid ?? 0), 'SIGKILL');
  await expect.poll(() => processesTagged(tag), { timeout: 3_000 }).toEqual([]);

  const sandbox = createBubblewrap({ filePolicy: createFilePolicy(), path, home: '/nonexistent', stateDir: root });
  await sandbox.status();
  await sandbox.close();
  expect(readdirSync(root).filter((name) => name.startsWith('toolwright-'))).toEqual([]);
  const workspace = readdirSync(root).find((name) => name.startsWith('ws-')) ?? '';
  expect(readdirSync(join(root, workspace))).toEqual([]);
  removeTree(root);
});

test.each(['sandbox.before_spawn', 'sandbox.after_spawn'])(
  'a process that dies at %s leaves nothing that the next one does not tidy up',
  async (failpoint) => {
    const root = mkdtempSync(join(tmpdir(), 'failpoint-'));
    const tag = `failpoint-${process.pid}-${failpoint}`;
    const workspace = mkdtempSync(join(root, 'ws-'));
    const child = startProgram(
      root,
      `await sandbox.status();
armFailpoints((name) => name === '${failpoint}' && process.kill(process.pid, 'SIGKILL'));
const script = 'git init -q nested && echo x > nested/.git/hooks/pre-commit && chmod +x nested/.git/hooks/pre-commit';
await sandbox.run({ command: { script }, workspace: '${workspace}', mounts: 'staged', stage: await newStage(), tag: '${tag}' });`,
    );
    expect(await new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))).toBe('SIGKILL');

    const sandbox = createBubblewrap({ filePolicy: createFilePolicy(), path, home: '/nonexistent', stateDir: root });
    await sandbox.status();
    await sandbox.close();
    await expect.poll(() => processesTagged(tag), { timeout: 3_000 }).toEqual([]);
    expect(readdirSync(root).filter((name) => name.startsWith('toolwright-'))).toEqual([]);
    removeTree(root);
  },
);

test('a sandbox that was used does not keep the program from ending', async () => {
  const root = mkdtempSync(join(tmpdir(), 'ends-'));
  const child = startProgram(
    root,
    `const result = await sandbox.run({ command: ['true'], workspace: '${mkdtempSync(join(root, 'ws-'))}', mounts: 'read', tag: 't' });
if (!result.ok) throw new Error(result.error.message);`,
  );
  expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  expect(readdirSync(root).filter((name) => name.startsWith('toolwright-'))).toEqual([]);
  removeTree(root);
});

test('a missing program fails closed and names the repair', async () => {
  await using at = trySandbox({ path, programPlaces: ['/nowhere/bwrap'] });
  const request = { command: ['touch', 'ran'], workspace: at.workspace, mounts: 'read', tag: 't' } as const;
  const result = await at.sandbox.run(request);
  expect(result).toMatchObject({ ok: false, error: { code: 'SANDBOX_UNAVAILABLE' } });
  expect(result.ok || result.error.message).toContain('apt-get install bubblewrap');
  expect(readdirSync(at.workspace)).toEqual([]);
});

test('a program called bwrap in the workspace or on the path is not taken', async () => {
  const at = trySandbox({ path });
  at.write('bwrap', '#!/bin/sh\ntouch PWNED\n');
  const other = trySandbox({ path: `${at.workspace}:${path}` });
  await other.sh('true', { workspace: at.workspace });
  expect(readdirSync(at.workspace)).toEqual(['bwrap']);
  await other[Symbol.asyncDispose]();
  await at[Symbol.asyncDispose]();
});
