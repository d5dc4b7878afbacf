import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type CommandOptions, commandWorkspace } from '../../src/testing/command-workspace.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const FILES = { 'a.txt': 'one\ntwo\nthree\n', 'src/b.txt': 'b\n', '.env': 'KEY=hush\n' };

/** A workspace in which every call is a dry run; nobody answers questions. */
async function open(given: Partial<CommandOptions> = {}) {
  const ws = await commandWorkspace({
    ...{ path: PATH, files: FILES, approve: false, ...given },
    options: { dryRun: true, ...given.options },
  });
  const pending = async () => (await ws.world.stages?.(CALLER)?.list({}))?.length;
  return Object.assign(ws, { text: (path: string) => readFileSync(ws.file(path), 'utf8'), pending });
}
const CALLER = {} as never;

describe('a dry run of a command', () => {
  test('[B31] shows its output and its real changes, and keeps nothing', async () => {
    await using ws = await open();
    const dry = await ws.call('bash', { command: 'sed -i s/two/2/ a.txt; rm src/b.txt; echo x >new.txt; echo done' });
    expect(dry.text).toMatch(
      /^\[Dry Run\] Would run: sed -i .*\nin the workspace, in the sandbox, for at most 120 s\n/,
    );
    expect(dry.text).toMatch(/\ndone\n\[exit code 0, /);
    for (const line of ['modified a.txt (+1 -1)', 'deleted src/b.txt', 'created new.txt (+1 -0)'])
      expect(dry.text).toContain(`\n  ${line}`);
    expect(dry.text).toMatch(/--- a\.txt\n@@ [\s\S]*-two\n\+2/);
    expect(dry.text).toContain('\nKeeping these changes would need approval: ');
    expect([ws.text('a.txt'), ws.text('src/b.txt'), existsSync(ws.file('new.txt'))]).toEqual([
      FILES['a.txt'],
      'b\n',
      false,
    ]);
    expect([ws.asked, await ws.pending()]).toEqual([[], 0]);
  });

  test('says when its changes would be kept without a question, when they would not, and when there are none', async () => {
    await using ws = await open();
    const made = await ws.call('bash', { command: 'echo x >new.txt' });
    expect(made.text).toContain('These changes would be kept without a question.');
    const refused = await ws.call('bash', { command: 'mkfifo pipe' });
    expect(refused.text).toMatch(/\nNever kept:\n {2}created pipe/);
    const nothing = await ws.call('run_code', { language: 'python', code: 'print(6 * 7)' });
    expect(nothing.text).toMatch(
      /^\[Dry Run\] Would run: this python code[\s\S]*\n42\n[\s\S]*It would change no file\.$/,
    );
    expect(await ws.pending()).toBe(0);
  });

  test('what would be asked about in words is tried as well, without network', async () => {
    await using ws = await open();
    const asked = await ws.call('bash', { command: 'touch ran; git push' });
    expect(asked.text).toMatch(/\nIt would need approval first: [^\n]+\nIt was tried, and nothing is kept:\n/);
    expect(asked.text).toContain('Tried without the network');
    expect(asked.text).toContain('\n  created ran');
    const code = await ws.call('run_code', { language: 'bash', code: 'echo ran', network: true });
    expect(code.text).toMatch(/\nIt would need approval first: [\s\S]*\nran\n/);
    expect([existsSync(ws.file('ran')), await ws.pending(), ws.asked]).toEqual([false, 0, []]);
  });

  test('a process in the background is tried for a moment: it shows whether it starts', async () => {
    await using ws = await open();
    const args = { background: true, command: 'echo up; echo x >log.txt; sleep 100' };
    const started = await ws.call('bash', args);
    expect(started.text).toMatch(
      /\nIt would need approval first: [\s\S]*\nup\n[\s\S]*tried for 5 s[\s\S]*created log\.txt/,
    );
    const failing = await ws.call('bash', { ...args, command: './no-server' });
    expect(failing.text).toMatch(/no-server: No such file[\s\S]*exit code 127/);
    expect([existsSync(ws.file('log.txt')), await ws.pending()]).toEqual([false, 0]);
  });

  test('runs nothing that a rule of the user asks about or that is refused, and hides what it prints of a secret', async () => {
    await using ws = await open({ rules: { ask: ['bash(git push *)', 'run_code'] } });
    const ruled = await ws.call('bash', { command: 'touch ran; git push' });
    expect(ruled.text).toMatch(/\nIt would need approval first: [^\n]+$/);
    const code = await ws.call('run_code', { language: 'bash', code: 'echo ran', network: true });
    expect(code.text).toMatch(/\nIt would need approval first: [^\n]+$/);
    execFileSync('git', ['-C', ws.root, 'init', '-q']);
    execFileSync('git', ['-C', ws.root, 'config', 'remote.origin.url', 'https://u:h4sh-Qw82kdTz@example.org/']);
    const secret = await ws.call('bash', { command: 'git remote -v' });
    expect(secret.text).toMatch(/https:\/\/u:\[secret: /);
    expect(secret.text).not.toContain('h4sh');
    expect((await ws.call('bash', { command: 'rm -rf /' })).error?.code).toBe('PERMISSION_DENIED');
  });

  test('never reaches the network, also where a real run may', async () => {
    let requests = 0;
    const server = createServer((_request, response) => response.end(String(++requests)));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const network = { hosts: [`127.0.0.1:${port}`], privateAddresses: ['127.0.0.1'] };
    await using ws = await open({ mode: 'auto', network });
    const dry = await ws.call('bash', { command: `curl -sS -m 5 -d x http://127.0.0.1:${port}/ || echo unreached` });
    server.close();
    expect(dry.text).toContain('unreached');
    expect(dry.text).toContain('Tried without the network');
    expect(requests).toBe(0);
  });

  test('a command that runs out of time is told, and what it did is not kept', async () => {
    await using ws = await open();
    const dry = await ws.call('bash', { command: 'echo x >new.txt; sleep 300', timeout: 1 });
    expect(dry.text).toMatch(
      /\[Stopped after 1 s[\s\S]*Not kept, because it was stopped before its end:\n {2}created new\.txt/,
    );
    expect([existsSync(ws.file('new.txt')), await ws.pending()]).toEqual([false, 0]);
  });

  test('shows no secret, and its record is one call', async () => {
    await using ws = await open();
    const dry = await ws.call('run_code', { language: 'bash', code: 'cp .env copy.txt; cat copy.txt' });
    expect(dry.text).not.toContain('h4sh');
    expect(ws.toolwright.executor.getExecutions()).toHaveLength(1);
  });
});

describe('a dry run of a file tool', () => {
  test('shows the diff of its plan, also of a new file, a deletion and a move', async () => {
    await using ws = await open();
    const edit = await ws.call('edit_file', { path: 'a.txt', edits: [{ old: 'two', new: '2' }] });
    expect(edit.text).toMatch(/^\[Dry Run\] Would run: [\s\S]*-two\n\+2/);
    const write = await ws.call('write_file', { path: 'new.txt', content: 'fresh\n' });
    expect(write.text).toMatch(/^\[Dry Run\] Would run: Would create new\.txt[\s\S]*\+fresh/);
    const gone = await ws.call('delete_file', { path: 'src', recursive: true });
    expect(gone.text).toMatch(/^\[Dry Run\] Would run: Would delete:[\s\S]*src\/b\.txt/);
    const move = await ws.call('move_file', { source: 'a.txt', destination: 'c.txt' });
    expect(move.text).toMatch(/^\[Dry Run\] Would run: Would move a\.txt to c\.txt/);
    expect([existsSync(ws.file('new.txt')), existsSync(ws.file('src/b.txt')), existsSync(ws.file('c.txt'))]).toEqual([
      false,
      true,
      false,
    ]);
  });
});
