import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { PathDecisionKind } from '../../kernel/world/path-decisions.ts';
import { type App, type AppOptions, openApp } from '../open-app.ts';
import { workspaceId } from '../workspace-id.ts';

const TOKEN = `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}`;

let home: string;
let workspace: string;
const apps: App[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'decisions-'));
  workspace = join(home, 'project');
  mkdirSync(join(workspace, 'fixtures'), { recursive: true });
  writeFileSync(join(workspace, '.env'), `API_TOKEN=${TOKEN}\n`);
  writeFileSync(join(workspace, 'fixtures/token.txt'), `${TOKEN}\n`);
  writeFileSync(join(workspace, 'fixtures/.env'), 'MADE=up\n');
});

afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  rmSync(home, { recursive: true, force: true });
});

async function open(options: Partial<AppOptions> = {}): Promise<App> {
  const opened = await openApp({ workspace, home, env: { PATH: '/usr/local/bin:/usr/bin:/bin' }, ...options });
  if (!opened.ok) throw new Error(opened.error.message);
  apps.push(opened.value);
  return opened.value;
}

async function decide({ store, decisions }: App, path: string, kind: PathDecisionKind, of = workspace): Promise<void> {
  const data = { decisionId: `${kind} ${path}`, workspace: workspaceId(of), path, kind, digest: null, by: 'ana' };
  await store.record({ type: 'path.decided', at: 5, data });
  await decisions.reload();
}

async function takeBack({ store, decisions }: App, path: string, kind: PathDecisionKind): Promise<void> {
  await store.record({ type: 'path.taken_back', at: 6, data: { decisionId: `${kind} ${path}`, by: 'ana' } });
  await decisions.reload();
}

async function read({ executor, context }: App, path: string): Promise<string> {
  const result = await executor.execute('read_file', context, { path });
  return result.error?.code ?? result.toDisplay();
}

test('a path that a person declared no secret is read and edited like any file until it is taken back', async () => {
  const app = await open({ flags: { allow: 'edit_file' } });
  expect(await read(app, '.env')).toBe('PERMISSION_DENIED');
  await decide(app, '.env', 'no-secret');
  await decide(app, 'fixtures', 'no-secret');
  expect(await read(app, '.env')).toContain('API_TOKEN');
  expect(await read(app, 'fixtures/.env')).toContain('MADE=up');
  expect(await read(app, 'fixtures/token.txt')).toContain('ghp_');
  const edit = { path: 'fixtures/.env', edits: [{ old: 'MADE=up', new: 'MADE=anew' }] };
  const edited = await app.executor.execute('edit_file', app.context, edit);
  expect(edited.error).toBeNull();
  await takeBack(app, '.env', 'no-secret');
  await takeBack(app, 'fixtures', 'no-secret');
  for (const path of ['.env', 'fixtures/.env', 'fixtures/token.txt'])
    expect(await read(app, path), path).toBe('PERMISSION_DENIED');
});

test('grep finds what stands in a file that was declared no secret, and nothing in one that is free for commands', async () => {
  const app = await open();
  const hits = async () => (await app.executor.execute('grep', app.context, { pattern: 'ghp_q7' })).toDisplay();
  expect(await hits()).not.toContain('token.txt');
  await decide(app, 'fixtures/token.txt', 'commands');
  expect(await hits()).not.toContain('token.txt');
  expect(await read(app, 'fixtures/token.txt')).toBe('PERMISSION_DENIED');
  await decide(app, 'fixtures/token.txt', 'no-secret');
  expect(await hits()).toContain('fixtures/token.txt:1');
});

test('a command sees a file that holds a secret while it is free for commands, and no longer', async () => {
  const app = await open({ approver: async () => ({ approved: true }) });
  const size = async () => {
    const result = await app.executor.execute('bash', app.context, {
      command: 'for file in fixtures/token.txt .[e]nv; do wc -c <$file; done',
    });
    return result.error?.message ?? (result.value as { stdout: string }).stdout;
  };
  expect(await size()).toBe('');
  await decide(app, 'fixtures/token.txt', 'commands');
  expect(await size()).toBe(`${TOKEN.length + 1}\n`);
  await decide(app, '.env', 'no-secret');
  expect(await size()).toBe(`${TOKEN.length + 1}\n${`API_TOKEN=${TOKEN}\n`.length}\n`);
  await takeBack(app, 'fixtures/token.txt', 'commands');
  await takeBack(app, '.env', 'no-secret');
  expect(await size()).toBe('');
});

test('a command may name a path that is free for commands', async () => {
  const app = await open();
  const verdict = async (path: string) => {
    const reviewed = await app.executor.review('bash', app.context, { command: `cat ${path}` });
    return reviewed.ok ? reviewed.value.verdict.verdict : reviewed.error.message;
  };
  expect(await verdict('.env')).not.toBe('allow');
  await decide(app, '.env', 'commands');
  expect(await verdict('.env')).toBe('allow');
  expect(await verdict('fixtures/.env')).not.toBe('allow');
});

test("no decision lifts the user's own rules, protection, or Toolwright's own files", async () => {
  writeFileSync(join(workspace, 'mine.txt'), 'mine');
  writeFileSync(join(workspace, '.npmrc'), 'color=true\n');
  mkdirSync(join(workspace, '.toolwright'));
  writeFileSync(join(workspace, '.toolwright/config.json'), '{}');
  const app = await open({ flags: { sensitiveFiles: 'mine.txt', deny: 'read_file(fixtures/**)' } });
  for (const path of ['mine.txt', 'fixtures', '.toolwright', '.npmrc']) await decide(app, path, 'no-secret');
  expect(await read(app, 'mine.txt')).toBe('PERMISSION_DENIED');
  expect(await read(app, 'fixtures/token.txt')).toBe('PERMISSION_DENIED');
  expect(await read(app, '.toolwright/config.json')).toBe('PERMISSION_DENIED');
  const write = { path: '.npmrc', content: 'x' };
  const reviewed = await app.executor.review('write_file', app.context, write);
  expect(reviewed.ok && reviewed.value.verdict.rule).toBe('protected file');
});

test('a decision counts in its workspace alone, and a path that goes up again is not inside it', async () => {
  const other = join(home, 'other');
  mkdirSync(other);
  writeFileSync(join(other, '.env'), `API_TOKEN=${TOKEN}\n`);
  const app = await open();
  await decide(app, '.env', 'no-secret', other);
  expect(await read(app, '.env')).toBe('PERMISSION_DENIED');
  await decide(app, 'fixtures', 'no-secret');
  expect(app.decisions.of(workspace, 'fixtures/.env')).toHaveLength(1);
  expect(app.decisions.of(workspace, 'fixtures/../.env')).toEqual([]);
  expect(app.decisions.of(other, 'fixtures/.env')).toEqual([]);
});

test('a decision of another process is followed, told to who asked, and there after a restart', async () => {
  const [here, there] = [await open(), await open()];
  const told: string[] = [];
  const stop = there.decisions.onChange((root) => told.push(root));
  await decide(here, '.env', 'no-secret');
  await expect.poll(() => read(there, '.env'), { timeout: 20_000 }).toContain('API_TOKEN');
  expect(told).toEqual([workspace]);
  stop();
  for (const app of apps.splice(0)) await app.close();
  const again = await open();
  expect(again.decisions.of(workspace, '.env')).toEqual([
    { workspace, path: '.env', kind: 'no-secret', digest: null, by: 'ana', at: new Date(5).toISOString() },
  ]);
  await takeBack(again, '.env', 'no-secret');
  expect(await read(again, '.env')).toBe('PERMISSION_DENIED');
});
