import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CallRecord } from '../kernel/call/call.ts';
import { LiveCalls } from '../runtime/order/live-calls.ts';
import { undoCall } from './admin/undo-call.ts';
import { cancelCall } from './follow/cancel-call.ts';
import type { App, AppOptions } from './open-app.ts';
import { openApp } from './open-app.ts';

let home: string;
let workspace: string;
const apps: App[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'app-'));
  workspace = join(home, 'project');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'needle\n');
});

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  rmSync(home, { recursive: true, force: true });
});

function tryOpen(options: Partial<AppOptions> = {}) {
  return openApp({ workspace, home, env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, ...options });
}

async function open(options: Partial<AppOptions> = {}): Promise<App> {
  const opened = await tryOpen(options);
  if (!opened.ok) throw new Error(opened.error.message);
  apps.push(opened.value);
  return opened.value;
}

test('a call goes through policy, sandbox, workspace and store', async () => {
  const app = await open();
  const read = await app.executor.execute('read_file', app.context, { path: 'a.txt' });
  expect(read.toDisplay()).toContain('needle');
  const found = await app.executor.execute('grep', app.context, { pattern: 'needle' });
  expect(found.toDisplay()).toContain('a.txt:1: needle');
  const { items } = await app.store.history({});
  expect(items.map(({ tool, state }) => [tool, state])).toEqual([
    ['read_file', 'succeeded'],
    ['grep', 'succeeded'],
  ]);
});

test('a change that nobody can be asked about is refused, and one that a rule allows runs', async () => {
  const app = await open();
  const refused = await app.executor.execute('write_file', app.context, { path: 'a.txt', content: 'x' });
  expect(refused.error).toMatchObject({ code: 'APPROVAL_DENIED' });
  const allowing = await open({ flags: { allow: 'write_file(a.txt)' } });
  const written = await allowing.executor.execute('write_file', allowing.context, { path: 'a.txt', content: 'x' });
  expect(written.success).toBe(true);
});

test('a user lifts a sensitive file for tools and commands, and a workspace does not', async () => {
  writeFileSync(join(workspace, '.env'), 'A=secret');
  writeFileSync(join(workspace, '.env.test'), 'B_TOKEN=made-up-word-1');
  const lifting = await open({ flags: { sensitiveFiles: '!.env.test' } });
  const textOf = async (app: App, tool: string, args: object) =>
    (await app.executor.execute(tool, app.context, args)).toDisplay();
  expect(await textOf(lifting, 'read_file', { path: '.env.test' })).toContain('made-up');
  expect(await textOf(lifting, 'bash', { command: 'cat .env.test' })).toContain('made-up');
  expect(await textOf(lifting, 'read_file', { path: '.env' })).toContain('toolwright paths no-secret .env');
  expect(await textOf(await open(), 'read_file', { path: '.env.test' })).toContain('cannot be used');
  mkdirSync(join(workspace, '.toolwright'));
  writeFileSync(join(workspace, '.toolwright/config.json'), '{ "sensitiveFiles": ["!.env.test"] }');
  expect(await tryOpen()).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('only the user can lift !.env.test') },
  });
});

test('a rule about a name does not allow what a link of that name leads to', async () => {
  mkdirSync(join(workspace, '.git/hooks'), { recursive: true });
  writeFileSync(join(workspace, '.git/hooks/pre-commit'), 'old');
  symlinkSync('.git/hooks/pre-commit', join(workspace, 'notes.md'));
  for (const flags of [{ allow: 'write_file(notes.md)' }, { allow: 'write_file' }, { mode: 'auto' }]) {
    const app = await open({ flags });
    const written = await app.executor.execute('write_file', app.context, { path: 'notes.md', content: 'new' });
    expect(written.success).toBe(false);
  }
  expect(readFileSync(join(workspace, '.git/hooks/pre-commit'), 'utf8')).toBe('old');
});

test('a rule about a path is about the place that it leads to, and about what is in a folder', async () => {
  for (const folder of ['private', 'docs', 'src']) mkdirSync(join(workspace, folder));
  writeFileSync(join(workspace, 'private/a'), 'secret');
  writeFileSync(join(workspace, 'src/index.ts'), 'old');
  symlinkSync('private', join(workspace, 'p'));
  symlinkSync('../src', join(workspace, 'docs/x'));
  const deny = 'read_file(private/**),grep(private/**),move_file(private/**)';
  const app = await open({ flags: { deny, allow: 'write_file(docs/**),move_file(p)' } });
  const call = async (tool: string, args: object) => (await app.executor.execute(tool, app.context, args)).error?.code;
  expect(await call('read_file', { path: 'p/a' })).toBe('PERMISSION_DENIED');
  expect(await call('grep', { pattern: 'x', path: 'p' })).toBe('PERMISSION_DENIED');
  expect(await call('grep', { pattern: 'x', path: 'private' })).toBe('PERMISSION_DENIED');
  expect(await call('move_file', { from: 'private', to: 'public' })).toBe('PERMISSION_DENIED');
  expect(await call('move_file', { from: 'src', to: 'private/src' })).toBe('PERMISSION_DENIED');
  expect(await call('move_file', { from: 'src', to: 'p/src' })).toBe('PERMISSION_DENIED');
  expect(await call('write_file', { path: 'docs/x/index.ts', content: 'new' })).toBe('APPROVAL_DENIED');
  expect(readFileSync(join(workspace, 'src/index.ts'), 'utf8')).toBe('old');
  expect(await call('write_file', { path: 'docs/new.md', content: 'new' })).toBeUndefined();
  // Of a link that is moved, the link is meant.
  expect(await call('move_file', { from: 'p', to: 'q' })).toBeUndefined();
  expect(readFileSync(join(workspace, 'q/a'), 'utf8')).toBe('secret');
});

test('a rule saved by another process is followed, and so is a tool switched off', async () => {
  const here = await open();
  const there = await open();
  const saved = { ruleId: 'r1', rule: 'write_file(a.txt)', verdict: 'allow', by: null } as const;
  await there.store.record({ type: 'rule.saved', at: Date.now(), data: saved });
  const switched = { tool: 'grep', enabled: false, by: null };
  await there.store.record({ type: 'tool.switched', at: Date.now(), data: switched });
  await expect
    .poll(async () => {
      const result = await here.executor.execute('write_file', here.context, { path: 'a.txt', content: 'y' });
      const search = await here.executor.execute('grep', here.context, { pattern: 'y' });
      return [result.success, search.error?.code];
    })
    .toEqual([true, 'TOOL_DISABLED']);
});

test('a command reaches the port of this server as little as web_fetch does', async () => {
  const app = await open();
  const ran = await app.sandbox.run({
    command: ['python3', '-c', 'import urllib.request as u; u.urlopen("http://127.0.0.1:8665/", timeout=5)'],
    workspace,
    mounts: 'read',
    network: { hosts: ['127.0.0.1:8665'], privateAddresses: ['127.0.0.1'] },
    tag: 'own-port',
  });
  if (!ran.ok) throw new Error(ran.error.message);
  ran.value.output.log.dispose();
  expect(ran.value.network).toMatchObject([{ port: 8665, allowed: false, address: null }]);
});

test('what is wrong with the configuration is said before anything runs', async () => {
  expect((await tryOpen({ workspace: join(home, 'none') })).ok).toBe(false);
  const rule = await tryOpen({ flags: { allow: 'wirte_file' } });
  expect(!rule.ok && rule.error.message).toContain('there is no tool wirte_file');
  const inside = await tryOpen({ workspace: home });
  expect(!inside.ok && inside.error.message).toContain("contains Toolwright's own state");
});

test('a workspace that cannot be opened leaves nothing open', async () => {
  const state = join(home, '.local/state/toolwright');
  mkdirSync(state, { recursive: true, mode: 0o700 });
  writeFileSync(join(state, 'journal'), 'no folder');
  await expect(tryOpen()).rejects.toThrow('journal');
  const files = readdirSync('/proc/self/fd').map(targetOf);
  expect(files.filter((path) => path.startsWith(state))).toEqual([]);
});

function targetOf(fd: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
}

test('a call is stopped when another process cancels it', async () => {
  const app = await open({ approver: () => ({ approved: true }) });
  const other = await open();
  const running = app.executor.execute('bash', app.context, { command: 'sleep 60' });
  const call = async () => (await other.store.calls({ states: ['running'] })).items[0];
  await expect.poll(call, { timeout: 20_000 }).toBeDefined();
  await cancelCall(other.store, new LiveCalls(), (await call()) as CallRecord, 'ana');
  expect(await running).toMatchObject({ ok: false, error: { code: 'CANCELLED' } });
});

test('nothing is taken back that could not be recorded first', async () => {
  const app = await open({ approver: () => ({ approved: true }) });
  const { callId } = await app.executor.execute('write_file', app.context, { path: 'a.txt', content: 'other\n' });
  const { submit } = app.store;
  app.store.submit = () => Promise.reject(new Error('the disk is full'));
  await expect(undoCall(app, callId ?? '', 'ana')).rejects.toThrow('the disk is full');
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('other\n');
  app.store.submit = submit;
  await app.store.prune({ before: Date.now() + 1000, maxBytes: 1 });
  expect(await undoCall(app, callId ?? '', 'ana')).toMatchObject({ ok: true });
  const [deed] = (await app.store.history({ newestFirst: true })).items;
  expect(deed).toMatchObject({ tool: 'person:undo', state: 'succeeded', args: { by: 'ana' } });
});

test('what undo needs outlasts the pruning of the store', async () => {
  const app = await open({ approver: () => ({ approved: true }) });
  const result = await app.executor.execute('write_file', app.context, { path: 'a.txt', content: 'other\n' });
  expect(result.ok).toBe(true);
  await app.store.prune({ before: Date.now() + 1000, maxBytes: 1 });
  expect((await app.workspace.undo(result.callId ?? '')).ok).toBe(true);
  expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('needle\n');
});
