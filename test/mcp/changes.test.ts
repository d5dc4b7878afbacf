import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type StartedServer, startServer } from '../../src/app/start-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'mcp-changes-'));
const workspace = join(folder, 'project');
const closing: (() => Promise<void>)[] = [];
let server: StartedServer;

beforeAll(async () => {
  mkdirSync(workspace);
  const started = await startServer({
    workspaces: [workspace],
    env: { PATH: process.env['PATH'], XDG_CONFIG_HOME: folder },
    flags: { port: '0', stateDir: join(folder, 'state') },
    home: folder,
  });
  if (!started.ok) throw new Error(started.error.message);
  server = started.value;
}, 60_000);
beforeEach(() => {
  writeFileSync(join(workspace, 'a.txt'), 'one\n');
  writeFileSync(join(workspace, 'old.txt'), 'old\n');
  rmSync(join(workspace, 'new.txt'), { force: true });
});
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

type Answer = { action: 'accept' | 'decline' | 'cancel'; content?: Record<string, string> };

/** A client whose user gives these answers, one after the other; and the messages that were shown. */
async function connect(
  era: 'auto' | 'legacy',
  answers: readonly Answer[],
): Promise<{ client: Client; asked: string[] }> {
  const client = new Client(
    { name: 'tester', version: '1' },
    { versionNegotiation: { mode: era }, capabilities: { elicitation: { form: {} } } },
  );
  const requestInit = { headers: { authorization: `Bearer ${server.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', server.url), { requestInit }));
  closing.push(() => client.close());
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return answers[asked.length - 1] ?? { action: 'cancel' };
  });
  return { client, asked };
}

const bash = (command: string) => ({ name: 'bash', arguments: { command } });
const onDisk = (name: string) =>
  existsSync(join(workspace, name)) ? readFileSync(join(workspace, name), 'utf8') : null;
const COMMAND = 'echo two > a.txt; rm old.txt; echo x > new.txt';

describe.each(['auto', 'legacy'] as const)('changes of a command in the form of a client, %s', (era) => {
  test('are listed with their diff, and kept', async () => {
    const { client, asked } = await connect(era, [{ action: 'accept', content: { decision: 'keep' } }]);
    const answer = await client.callTool(bash(COMMAND));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatch(/^Keep what this command changed\? .*echo two > a\.txt/);
    expect(asked[0]).toMatch(/^changed a\.txt \(\+1 -1\)$/m);
    expect(asked[0]).toMatch(/^deleted old\.txt/m);
    expect(asked[0]).toMatch(/^new new\.txt/m);
    expect(asked[0]).toContain('  | +two');
    expect(JSON.stringify(answer.content)).toContain('Kept.');
    expect([onDisk('a.txt'), onDisk('old.txt'), onDisk('new.txt')]).toEqual(['two\n', null, 'x\n']);
  });

  test('are kept in part; a path that is not there is asked about again and costs nothing', async () => {
    const keep = (paths: string): Answer => ({ action: 'accept', content: { decision: 'keep', paths } });
    const { client, asked } = await connect(era, [keep('a.text'), keep('new.txt')]);
    const answer = await client.callTool(bash(COMMAND));
    expect(asked[1]).toMatch(/^a\.text is not among the changes/);
    expect(JSON.stringify(answer.content)).toContain('Kept in part.');
    expect([onDisk('a.txt'), onDisk('old.txt'), onDisk('new.txt')]).toEqual(['one\n', 'old\n', 'x\n']);
  });

  test('an odd name is one line, and is chosen as it is shown', async () => {
    const [odd, other] = ['o\nkeep all.txt', 'o keep all.txt'];
    for (const name of [odd, other]) writeFileSync(join(workspace, name), 'old\n');
    const part = { decision: 'keep', paths: '"o\\nkeep all.txt"' };
    const { client, asked } = await connect(era, [{ action: 'accept', content: part }]);
    await client.callTool(bash('for f in o*all.txt; do echo two > "$f"; done'));
    expect(asked[0]).toMatch(/^changed o\\nkeep all\.txt \(\+1 -1\)$/m);
    expect([onDisk(odd), onDisk(other)]).toEqual(['two\n', 'old\n']);
  });

  test.each([
    [{ action: 'accept', content: { decision: 'discard', reason: 'Not now.' } }, 'Not now.'],
    [{ action: 'accept', content: { decision: 'allow' } }, 'Not kept'],
    [{ action: 'decline' }, 'Not kept'],
  ] satisfies [Answer, string][])('are discarded by every answer but keep: %j', async (given, told) => {
    const { client } = await connect(era, [given]);
    const answer = await client.callTool(bash(COMMAND));
    expect(JSON.stringify(answer.content)).toContain(told);
    expect([onDisk('a.txt'), onDisk('old.txt'), onDisk('new.txt')]).toEqual(['one\n', 'old\n', null]);
  });

  test('too many for a form are answered in our own inbox', async () => {
    const { client, asked } = await connect(era, []);
    const names = Array.from({ length: 100 }, (_, index) => `${'long-name-'.repeat(10)}${index}.txt`);
    for (const name of names) writeFileSync(join(workspace, name), 'x\n');
    const calling = client.callTool(bash('rm long-name-*'));
    const [workspaceBackend] = server.host.workspaces.values();
    const changes = workspaceBackend?.changes;
    if (changes === undefined) throw new Error('there is no workspace');
    let found = await changes.list();
    while (found[0]?.question == null) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      found = await changes.list();
    }
    expect(await changes.keep(found[0], {}, 'ana')).toMatchObject({ ok: true, value: { state: 'kept' } });
    expect(JSON.stringify((await calling).content)).toContain('Kept.');
    expect([asked, onDisk(names[0] ?? '')]).toEqual([[], null]);
  });
});
