import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type App, type AppOptions, openApp } from '../../src/app/open-app.ts';
import { createDialer } from '../../src/net/dialer.ts';
import { strictCommands } from '../../src/policy/rules/strict-list.ts';
import { commandWorkspace } from '../../src/testing/command-workspace.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';
let home: string;
let workspace: string;
const apps: App[] = [];

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'commands-'));
  workspace = join(home, 'project');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'hello\n');
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
  rmSync(home, { recursive: true, force: true });
});

async function open(flags: Record<string, string>, more: Partial<AppOptions> = {}): Promise<App> {
  const opened = await openApp({ workspace, home, env: { PATH: path }, flags, ...more });
  if (!opened.ok) throw new Error(opened.error.message);
  apps.push(opened.value);
  return opened.value;
}

const execute = (app: App, command: string) => app.executor.execute('execute_command', app.context, { command });

describe('mode strict, under the names of the workspace app', () => {
  test('[D08] a listed command runs in the workspace and its output comes back', async () => {
    const app = await open({ mode: 'strict', toolset: 'workspace' });
    const listed = await execute(app, 'ls');
    expect(listed.text).toMatch(/^a\.txt\n\[exit code 0/);
    expect((await app.store.history({})).items[0]).toMatchObject({ tool: 'bash', state: 'succeeded' });
  });

  test('[D10] a dangerous command is refused and nothing of it runs', async () => {
    const app = await open({ mode: 'strict', toolset: 'workspace' });
    const refused = await execute(app, 'touch started && rm -rf /');
    expect(refused.error).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect(existsSync(join(workspace, 'started'))).toBe(false);
  });

  test('[D16] what is not on the list is refused, naming the list; the default mode runs it and asks about its effect', async () => {
    const strict = await open({ mode: 'strict', toolset: 'workspace' });
    const command = 'sed -i 1s/^/changed/ a.txt';
    const refused = await execute(strict, command);
    expect(refused.error).toMatchObject({
      code: 'PERMISSION_DENIED',
      message: expect.stringContaining('only listed calls'),
    });
    const asked: string[] = [];
    const approver = ({ reason }: { reason: string }) => {
      asked.push(reason);
      return { approved: false };
    };
    const before = readFileSync(join(workspace, 'a.txt'), 'utf8');
    await execute(await open({ toolset: 'workspace' }, { approver }), command);
    expect(asked).toEqual(['It changes 1 file.']);
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe(before);
  });

  test('a user’s own list takes the place of the default one; what a workspace asks about lists nothing', async () => {
    const own = await open({ mode: 'strict', toolset: 'workspace', allow: 'bash(pwd)' });
    expect((await execute(own, 'pwd')).ok).toBe(true);
    expect((await execute(own, 'ls')).error).toMatchObject({ code: 'PERMISSION_DENIED' });
    mkdirSync(join(workspace, '.toolwright'));
    writeFileSync(join(workspace, '.toolwright/config.json'), '{"ask":["bash(make all)", "bash(ls -la)"]}');
    const asking = await open({ mode: 'strict', toolset: 'workspace' });
    expect((await execute(asking, 'ls')).ok).toBe(true);
    expect((await execute(asking, 'make all')).error).toMatchObject({ code: 'PERMISSION_DENIED' });
    expect((await execute(asking, 'ls -la')).error).toMatchObject({ code: 'PERMISSION_DENIED' });
  });
});

test('[D09] npm install runs in the workspace and reaches the registry and nobody else', async () => {
  const left = join(home, 'left');
  mkdirSync(left);
  writeFileSync(join(left, 'package.json'), '{"name":"left","version":"1.0.0"}');
  const file = execFileSync('npm', ['pack', '--silent', '--offline'], { cwd: left, encoding: 'utf8' }).trim();
  const tarball = readFileSync(join(left, file));
  const asked: string[] = [];
  const registry = createServer((request, response) => {
    asked.push(request.url ?? '');
    const dist = { tarball: `http://${request.headers.host}/left-1.0.0.tgz` };
    const versions = { '1.0.0': { name: 'left', version: '1.0.0', dist } };
    const packument = JSON.stringify({ name: 'left', 'dist-tags': { latest: '1.0.0' }, versions });
    const answer = request.url === '/left' ? packument : request.url === '/left-1.0.0.tgz' ? tarball : undefined;
    response.writeHead(answer === undefined ? 404 : 200).end(answer);
  });
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const { port } = registry.address() as AddressInfo;
  const other = createServer((_, response) => response.end('STRAYED'));
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port: otherPort } = other.address() as AddressInfo;
  try {
    await using ws = await commandWorkspace({
      path,
      mode: 'strict',
      rules: { allow: [...(strictCommands('bash').allow ?? []), 'bash(curl *)'] },
      files: { 'package.json': '{"name":"app","dependencies":{"left":"1.0.0"}}' },
      dialer: createDialer(),
      network: { hosts: [`127.0.0.1:${port}`], privateAddresses: ['127.0.0.1'] },
    });
    const installed = await ws.call('bash', { command: `npm install --registry http://127.0.0.1:${port}/` });
    expect(installed.text).toContain('added 1 package');
    expect(readFileSync(ws.file('node_modules/left/package.json'), 'utf8')).toContain('"left"');
    expect(asked).toEqual(expect.arrayContaining(['/left', '/left-1.0.0.tgz']));
    const strayed = await ws.call('bash', { command: `curl -sS http://127.0.0.1:${otherPort}/` });
    expect(strayed.text).not.toContain('STRAYED');
  } finally {
    registry.close();
    other.close();
  }
}, 60_000);

test.each([
  ['essentials', 'bash'],
  ['codebase', 'bash_tool'],
  ['workspace', 'execute_command'],
])('the toolset %s calls it %s', async (toolset, tool) => {
  const app = await open({ toolset });
  const result = await app.executor.execute(tool, app.context, { command: 'cat a.txt' });
  expect(result.text).toMatch(/^hello\n\[exit code 0/);
});
