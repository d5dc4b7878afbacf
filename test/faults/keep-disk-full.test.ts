import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fillDisk, type ServerProcess, startOnSmallDisk } from './server-process.ts';

let home: string;
let server: (ServerProcess & { disk: string }) | undefined;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'keep-full-'));
});
afterEach(async () => {
  await server?.kill();
  rmSync(home, { recursive: true, force: true });
});

const WRITE = 'echo new >b.txt; echo more >>a.txt; head -c 2000000 /dev/zero >large';

test('changes that do not fit after a yes stay pending with the next step, and are kept when there is space', async () => {
  const workspace = join(home, 'project');
  mkdirSync(workspace);
  server = await startOnSmallDisk({ disk: workspace, workspace }, home);
  const inside = server.disk;
  await server.post('/v1/calls', { tool: 'write_file', args: { path: 'a.txt', content: 'a\n' } });
  const { body: started } = await server.post('/v1/calls', {
    tool: 'bash',
    args: { command: WRITE },
    wait: false,
  });
  const { id, digest } = await openQuestion(server);
  fillDisk(join(inside, 'ballast'));
  await server.post(`/v1/approvals/${id}/approve`, { digest });

  const call = await endOf(server, started.id);
  const [pending] = (await server.get('/v1/changes')).items;
  expect(call.outcome.value.changed).toMatchObject({
    state: 'discarded',
    reason: expect.stringMatching(/disk is full.*still pending.*toolwright keep/s),
  });
  expect(call.outcome.text).toContain(`toolwright keep ${pending.id}`);
  expect([readFileSync(join(inside, 'a.txt'), 'utf8'), existsSync(join(inside, 'b.txt'))]).toEqual(['a\n', false]);

  rmSync(join(inside, 'ballast'));
  expect(await server.post(`/v1/changes/${pending.id}/keep`)).toMatchObject({ status: 200, body: { state: 'kept' } });
  expect([readFileSync(join(inside, 'a.txt'), 'utf8'), readFileSync(join(inside, 'b.txt'), 'utf8')]).toEqual([
    'a\nmore\n',
    'new\n',
  ]);
}, 120_000);

test('an undo on a disk without any space says so with the next step, and goes on when there is space', async () => {
  server = await startOnSmallDisk({ disk: home, workspace: join(home, 'project') }, home);
  const { disk } = server;
  const args = { path: 'a.txt', content: 'one\n' };
  const { body: call } = await server.post('/v1/calls', { tool: 'write_file', args });
  expect(call.state).toBe('succeeded');
  fillDisk(join(disk, 'ballast'));

  const undo = `/v1/calls/${call.id}/undo`;
  for (let tries = 0; tries < 3; tries++) {
    expect(await server.post(undo)).toMatchObject({
      body: { code: 'EXECUTION_ERROR', detail: expect.stringMatching(/disk is full.*[Ff]ree some space/) },
    });
  }
  expect(readFileSync(join(disk, 'project/a.txt'), 'utf8')).toBe('one\n');
  rmSync(join(disk, 'ballast'));
  expect(await server.post(undo)).toMatchObject({ status: 200, body: { restored: ['a.txt'] } });
  expect(existsSync(join(disk, 'project/a.txt'))).toBe(false);
}, 120_000);

describe('where the disk of the stages is full', () => {
  const inStages = () => readdirSync(server?.disk ?? '').filter((name) => name !== 'ballast');

  async function start(): Promise<ServerProcess> {
    const [workspace, disk] = [join(home, 'project'), join(home, '.local/state/toolwright/sandbox/stages')];
    for (const folder of [workspace, disk]) mkdirSync(folder, { recursive: true, mode: 0o700 });
    server = await startOnSmallDisk({ disk, workspace }, home);
    // The sandbox chooses where stages lie, once.
    expect((await bash('true')).state).toBe('succeeded');
    return server;
  }

  const bash = async (command: string) =>
    (await server?.post('/v1/calls', { tool: 'bash', args: { command } }))?.body ?? {};

  test('a command does not start, says so, and leaves nothing; it runs when there is space', async () => {
    const { disk } = (await start()) as NonNullable<typeof server>;
    fillDisk(join(disk, 'ballast'));
    expect(await bash('echo new >b.txt')).toMatchObject({
      state: 'failed',
      outcome: { error: { code: 'EXECUTION_ERROR', message: expect.stringMatching(/disk is full.*free some space/) } },
    });
    expect(inStages()).toEqual([]);
    rmSync(join(disk, 'ballast'));
    expect(await bash('echo new >b.txt')).toMatchObject({ state: 'succeeded' });
    expect(readFileSync(join(home, 'project/b.txt'), 'utf8')).toBe('new\n');
  }, 120_000);

  test('a command that fills it itself is told so, its changes are removed, and the next one runs', async () => {
    await start();
    expect(await bash('cat /dev/zero >large; echo new >b.txt')).toMatchObject({
      state: 'failed',
      outcome: { error: { code: 'EXECUTION_ERROR', message: expect.stringMatching(/disk is full.*free some space/) } },
    });
    expect([inStages(), readdirSync(join(home, 'project'))]).toEqual([[], []]);
    expect(await bash('echo new >b.txt')).toMatchObject({ state: 'succeeded' });
  }, 120_000);
});

async function openQuestion({ get }: ServerProcess): Promise<{ id: string; digest: string }> {
  const pending = async () => (await get('/v1/approvals?state=pending')).items;
  await expect.poll(async () => (await pending()).length, { timeout: 60_000 }).toBe(1);
  return (await pending())[0];
}

async function endOf({ get }: ServerProcess, id: string): Promise<ReturnType<typeof JSON.parse>> {
  const now = () => get(`/v1/calls/${id}`);
  await expect.poll(async () => (await now()).state, { timeout: 60_000 }).toBe('succeeded');
  return now();
}
