import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processesTagged } from '../../src/testing/sandbox-contract.ts';
import { type ServerProcess, startProcess, toolwright } from './server-process.ts';

let home: string;
let workspace: string;
const servers: ServerProcess[] = [];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'keep-stop-'));
  workspace = join(home, 'project');
  mkdirSync(workspace);
  writeFileSync(join(workspace, 'a.txt'), 'one\n');
});
afterEach(async () => {
  for (const each of servers.splice(0)) await each.kill();
  rmSync(home, { recursive: true, force: true });
});

async function start(): Promise<ServerProcess> {
  const server = await startProcess(workspace, home);
  servers.push(server);
  return server;
}

const run = (server: ServerProcess, command: string) =>
  server.post('/v1/calls', { tool: 'bash', args: { command }, wait: false }).then(({ body }) => String(body.id));
const text = () => readFileSync(join(workspace, 'a.txt'), 'utf8');
const pendingIn = async (server: ServerProcess) => (await server.get('/v1/changes')).items;
const stages = () => readdirSync(join(home, '.local/state/toolwright/sandbox/stages'));
const stateOf = async (server: ServerProcess, call: string) => (await server.get(`/v1/calls/${call}`)).state;

describe.each(['stop', 'kill'] as const)('while a person is asked about changes, after a %s of the server', (how) => {
  async function askedThenEnded(): Promise<{ call: string; next: ServerProcess; id: string; approvalId: string }> {
    const first = await start();
    const call = await run(first, 'echo two >>a.txt; echo new >b.txt');
    await expect
      .poll(() => pendingIn(first), { timeout: 60_000 })
      .toEqual([expect.objectContaining({ approvalId: expect.any(String) })]);
    const [{ id, approvalId }] = await pendingIn(first);
    await first[how]();
    const next = await start();
    expect(await pendingIn(next)).toMatchObject([{ id, approvalId }]);
    expect([text(), existsSync(join(workspace, 'b.txt'))]).toEqual(['one\n', false]);
    await expect.poll(() => stateOf(next, call), { timeout: 60_000 }).toBe('interrupted');
    return { call, next, id, approvalId };
  }

  test('the question is answered later over HTTP, and undone with the command', async () => {
    const { call, next, id } = await askedThenEnded();
    const kept = await next.post(`/v1/changes/${id}/keep`);
    expect(kept).toMatchObject({ status: 200, body: { state: 'kept' } });
    expect([text(), await pendingIn(next)]).toEqual(['one\ntwo\n', []]);
    expect(await next.post(`/v1/calls/${call}/undo`)).toMatchObject({ status: 200 });
    expect([text(), existsSync(join(workspace, 'b.txt'))]).toEqual(['one\n', false]);
  }, 120_000);

  test('the changes are kept from the command line without a server', async () => {
    const { next, id } = await askedThenEnded();
    await next[how]();
    const child = toolwright(['keep', id, '--workspace', workspace], home);
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
    expect(text()).toBe('one\ntwo\n');
  }, 120_000);

  test('a no as an approval discards them', async () => {
    const { next, approvalId } = await askedThenEnded();
    expect(await next.post(`/v1/approvals/${approvalId}/deny`)).toMatchObject({ status: 200 });
    await expect.poll(() => pendingIn(next), { timeout: 60_000 }).toEqual([]);
    expect(text()).toBe('one\n');
  }, 120_000);
});

describe.each([
  ['before the journal says that they are', 'workspace.performed'],
  ['before they are no longer pending', 'stage.keeping'],
  ['while what is left of them is removed', 'stage.removing'],
])('of a process that is killed when changes are in the workspace, %s,', (_when, dieAt) => {
  test('none are pending afterwards, others of the same path are told, and undo takes them back', async () => {
    const first = await start();
    const command = 'echo three >>a.txt; echo other >>c.txt';
    writeFileSync(join(workspace, 'c.txt'), 'c\n');
    await run(first, command);
    await expect.poll(() => pendingIn(first), { timeout: 60_000 }).toHaveLength(1);
    const [{ id: other }] = await pendingIn(first);
    await first.stop();

    const keeps = 'echo two >>a.txt; echo new >b.txt';
    expect(await keepAndDie(keeps, dieAt)).toBe('SIGKILL');
    expect(stages()).toHaveLength(2);
    const next = await start();
    expect(await pendingIn(next)).toMatchObject([{ id: other, overtaken: { title: keeps, paths: ['a.txt'] } }]);
    expect([stages(), text(), existsSync(join(workspace, 'b.txt'))]).toEqual([[other], 'one\ntwo\n', true]);
    const { items } = await next.get('/v1/history');
    const { id: call } = items.find((each: { args: { command?: string } }) => each.args.command === keeps);
    expect(await next.post(`/v1/calls/${call}/undo`)).toMatchObject({ status: 200 });
    expect([text(), existsSync(join(workspace, 'b.txt'))]).toEqual(['one\n', false]);
    expect(await pendingIn(next)).toHaveLength(1);
  }, 120_000);
});

/** Returns the signal by which it ended. */
async function keepAndDie(command: string, dieAt: string): Promise<NodeJS.Signals | null> {
  const program = join(import.meta.dirname, 'keep-program.ts');
  const args = ['--import', 'tsx', program, workspace, home, command, dieAt];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const [, signal] = await once(child, 'exit');
  return signal;
}

test('of a server that is killed while a command runs nothing is left but the interrupted call', async () => {
  const first = await start();
  const call = await run(first, 'echo two >>a.txt; echo new >b.txt; exec sleep 300');
  const isAsleep = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep');
  await expect.poll(() => processesTagged(call).some(isAsleep), { timeout: 60_000 }).toBe(true);
  expect(stages()).toHaveLength(1);
  await first.kill();
  const next = await start();
  await expect.poll(() => stateOf(next, call), { timeout: 60_000 }).toBe('interrupted');
  expect([text(), existsSync(join(workspace, 'b.txt')), await pendingIn(next)]).toEqual(['one\n', false, []]);
  expect([stages(), processesTagged(call)]).toEqual([[], []]);
}, 120_000);
