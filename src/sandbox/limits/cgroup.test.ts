import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OWN_PROCESS_ID } from '../../host/process-identity.ts';
import { DEFAULT_LIMITS } from '../../kernel/world/sandbox.ts';
import { findCgroupHost } from './cgroup.ts';

/** A tree of plain folders that looks like the kernel's: what is written and where is what these tests are about. */
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'cgroup-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function folder(path: string, files: Record<string, string> = {}): string {
  const full = join(root, path);
  mkdirSync(full, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(full, name), text);
  return full;
}

const second = () => ({ mounts: `cgroup2 ${root} cgroup2 rw,nosuid 0 0\n`, groups: '0::/user.slice/session\n' });
const limits = { ...DEFAULT_LIMITS, memoryBytes: 64 * 1024 * 1024 + 0.5, processes: 10 };

test('in version 2 a group is made below the nearest one above that hands the controllers down', () => {
  folder('user.slice/session', { 'cgroup.subtree_control': '', 'cgroup.procs': '' });
  const slice = folder('user.slice', { 'cgroup.subtree_control': 'cpu memory pids\n', 'cgroup.procs': '' });
  const host = findCgroupHost(second());
  expect(host?.version).toBe(2);
  const group = host?.create();
  const [name = ''] = readdirSync(slice).filter((each) => each.startsWith('toolwright-'));
  expect(group?.entrances).toEqual([join(slice, name, 'cgroup.procs')]);
  group?.limit(limits);
  const written = (file: string) => readFileSync(join(slice, name, file), 'utf8');
  expect([written('memory.max'), written('memory.swap.max'), written('memory.oom.group')]).toEqual([
    String(64 * 1024 * 1024),
    '0',
    '1',
  ]);
  group?.share('least');
  expect(written('cpu.weight')).toBe('2');
  group?.share('usual');
  expect(written('cpu.weight')).toBe('100');
  // Two more, for bubblewrap and the shell inside.
  expect(written('pids.max')).toBe('12');
});

test('in version 2 what was used and refused is read from the group', async () => {
  const slice = folder('user.slice/session', { 'cgroup.subtree_control': 'memory pids', 'cgroup.procs': '' });
  const group = findCgroupHost(second())?.create();
  const [name = ''] = readdirSync(slice).filter((each) => each.startsWith('toolwright-'));
  expect(group?.use()).toEqual({ cpuMs: 0, peakMemoryBytes: null, memoryKills: 0, refusedProcesses: 0 });
  folder(`user.slice/session/${name}`, {
    'cpu.stat': 'usage_usec 2500\nuser_usec 1\n',
    'memory.peak': '4096\n',
    'memory.events': 'low 0\noom 3\noom_kill 2\n',
    'pids.events': 'max 7\n',
  });
  expect(group?.use()).toEqual({ cpuMs: 2.5, peakMemoryBytes: 4096, memoryKills: 2, refusedProcesses: 7 });
  for (const file of readdirSync(join(slice, name))) rmSync(join(slice, name, file));
  expect(await group?.remove()).toBe(true);
  expect(existsSync(join(slice, name))).toBe(false);
});

test('there is no group where none hands the controllers down, or the mount is missing', () => {
  folder('user.slice/session', { 'cgroup.subtree_control': 'cpu', 'cgroup.procs': '' });
  expect(findCgroupHost(second())).toBeNull();
  expect(findCgroupHost({ mounts: '', groups: '0::/\n' })).toBeNull();
  expect(findCgroupHost({ mounts: '', groups: '' })).toBeNull();
});

test('in version 1 each controller has its own folder', () => {
  for (const name of ['memory', 'pids', 'cpuacct']) folder(`${name}/box`);
  const mounts = ['memory', 'pids', 'cpuacct'].map((name) => `cgroup ${root}/${name} cgroup rw,${name} 0 0\n`).join('');
  const host = findCgroupHost({ mounts, groups: '3:memory:/box\n2:pids:/box\n1:cpuacct:/box\n' });
  expect(host?.version).toBe(1);
  const group = host?.create();
  expect(group?.entrances).toHaveLength(3);
  group?.limit(limits);
  const of = (name: string) => join(root, name, 'box', readdirSync(join(root, name, 'box'))[0] ?? '');
  expect(readFileSync(join(of('memory'), 'memory.limit_in_bytes'), 'utf8')).toBe(String(64 * 1024 * 1024));
  expect(readFileSync(join(of('pids'), 'pids.max'), 'utf8')).toBe('12');
});

test('in version 1 a group has its share of the processor where that can be given, beside the accounting or with it', () => {
  for (const name of ['memory', 'pids', 'cpu,cpuacct']) folder(`${name}/box`);
  const mounts = ['memory', 'pids', 'cpu,cpuacct'].map((name) => `cgroup ${root}/${name} cgroup rw,${name} 0 0\n`);
  const groups = '3:memory:/box\n2:pids:/box\n1:cpu,cpuacct:/box\n';
  const group = findCgroupHost({ mounts: mounts.join(''), groups })?.create();
  expect(group?.entrances).toHaveLength(3);
  group?.share('least');
  const place = join(root, 'cpu,cpuacct/box');
  expect(readFileSync(join(place, readdirSync(place)[0] ?? '', 'cpu.shares'), 'utf8')).toBe('20');
});

test('groups of a process that is gone are removed, those of others and of other machines stay', () => {
  const slice = folder('user.slice/session', { 'cgroup.subtree_control': 'memory pids', 'cgroup.procs': '' });
  const [, , namespace, boot] = OWN_PROCESS_ID.split('-');
  const kept = [
    `toolwright-${OWN_PROCESS_ID}-77`,
    `toolwright-999999-1-1-${boot}-1`,
    'toolwright-mine',
    'toolwright-12-1',
  ];
  for (const name of [...kept, `toolwright-999999-1-${namespace}-${boot}-1`]) folder(`user.slice/session/${name}`);
  findCgroupHost(second());
  expect(
    readdirSync(slice)
      .filter((name) => name.startsWith('toolwright-'))
      .sort(),
  ).toEqual(kept.sort());
});
