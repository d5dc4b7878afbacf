import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type CliFixture, createCliFixture } from '../testing/cli-fixture.ts';
import { runCli } from './run-cli.ts';

const COMMAND = 'echo two > a.txt; rm old.txt; echo x > new.txt';
const LONG = 60_000;

function place(): CliFixture {
  return createCliFixture(process.env['PATH'], { 'a.txt': 'one\n', 'old.txt': 'old\n' });
}

interface RunningCli {
  readonly done: Promise<number>;
  type(line: string): void;
  /** Resolves when the output has this text. */
  until(text: string): Promise<void>;
  output(): string;
}

/** One command line in this process; with `isTerminal` a person sits in front of it. */
function start({ workspace, env }: CliFixture, argv: readonly string[], isTerminal = false): RunningCli {
  const stdin = Object.assign(new PassThrough(), { isTTY: isTerminal });
  const stdout = new PassThrough();
  const stderr = Object.assign(new PassThrough(), { isTTY: isTerminal });
  let output = '';
  const waiting = new Map<string, () => void>();
  for (const stream of [stdout, stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const [wanted, tell] of waiting) if (output.includes(wanted)) tell();
    });
  }
  if (!isTerminal) stdin.end();
  const io = { stdin, stdout, stderr, env: { ...env, NO_COLOR: '1' }, cwd: workspace, onInterrupt: () => () => {} };
  return {
    done: runCli(argv, io, '1.2.3'),
    type: (line) => void stdin.write(`${line}\n`),
    until: (text) =>
      output.includes(text) ? Promise.resolve() : new Promise((resolve) => waiting.set(text, () => resolve())),
    output: () => output,
  };
}

async function ran(fixture: CliFixture, argv: readonly string[]): Promise<{ code: number; output: string }> {
  const running = start(fixture, argv);
  return { code: await running.done, output: running.output() };
}

function texts({ workspace }: CliFixture): (string | null)[] {
  return ['a.txt', 'old.txt', 'new.txt'].map((name) =>
    existsSync(join(workspace, name)) ? readFileSync(join(workspace, name), 'utf8') : null,
  );
}

test('the question at the terminal shows the changes; a part is kept', { timeout: LONG }, async () => {
  using fixture = place();
  const call = start(fixture, ['call', 'bash', '--command', COMMAND], true);
  await call.until('[k]eep');
  expect(call.output()).toMatch(/Keep what .*echo two > a\.txt.* changed\?/);
  expect(call.output()).toMatch(/^ {2}M a\.txt \+1 −1$/m);
  expect(call.output()).toMatch(/^ {2}D old\.txt/m);
  expect(call.output()).toMatch(/^ {2}A new\.txt/m);
  expect(call.output()).toContain('+two');
  expect(texts(fixture)).toEqual(['one\n', 'old\n', null]);
  call.type('p');
  await call.until('Paths to keep');
  call.type('b.txt');
  // A line that is typed before the question stands there again would answer nothing.
  await call.until('above it.\n\u001b[1G\u001b[0J  Paths to keep (PATH:1,3 for hunks): \u001b[39G');
  expect(call.output()).toContain('b.txt is not among the changes');
  call.type('a.txt new.txt');
  expect(await call.done).toBe(0);
  expect(call.output()).toContain('Kept in part.');
  expect(texts(fixture)).toEqual(['two\n', 'old\n', 'x\n']);
});

test('changes that wait are listed, shown and kept from another terminal', { timeout: LONG }, async () => {
  using fixture = place();
  const call = start(fixture, ['call', 'bash', '--command', COMMAND]);
  await call.until('Waiting for approval');
  const listed = await ran(fixture, ['changes', '--json']);
  const { id, kinds } = JSON.parse(listed.output);
  expect(kinds).toEqual({ created: 1, modified: 1, deleted: 1 });
  const shown = await ran(fixture, ['changes', id]);
  expect(shown).toMatchObject({ code: 0, output: expect.stringMatching(/^M a\.txt \+1 −1$/m) });
  const chinese = await ran(fixture, ['changes', '--lang', 'zh']);
  expect(chinese.output).toContain('修改 1，新增 1，删除 1 · 等待回答');
  const wrong = await ran(fixture, ['keep', id, 'nowhere']);
  expect(wrong).toMatchObject({ code: 2, output: expect.stringContaining('nowhere is not among the pending changes') });
  const kept = await ran(fixture, ['keep', id, 'a.txt']);
  expect(kept).toMatchObject({ code: 0, output: expect.stringMatching(/^Kept in part: 1 changed/) });
  expect(await call.done).toBe(0);
  expect(texts(fixture)).toEqual(['two\n', 'old\n', null]);
  expect((await ran(fixture, ['changes'])).output).toBe('None.\n');
});

test('an odd name is shown in one line, and chosen as it is shown', { timeout: LONG }, async () => {
  const [odd, other] = ['o\nd\u202e.txt', 'o d\u202e.txt'];
  using fixture = createCliFixture(process.env['PATH'], { [odd]: 'one\n', [other]: 'one\n' });
  const read = () => [odd, other].map((name) => readFileSync(join(fixture.workspace, name), 'utf8'));
  const command = 'for f in o*d*.txt; do echo two > "$f"; done';
  const call = start(fixture, ['call', 'bash', '--command', command], true);
  await call.until('[k]eep');
  expect(call.output()).toMatch(/^ {2}M o\\nd\\u202e\.txt \+1 −1$/m);
  expect(call.output()).not.toContain('\u202e');
  call.type('p');
  await call.until('Paths to keep');
  call.type('o\\nd\\u202e.txt');
  expect(await call.done).toBe(0);
  expect(read()).toEqual(['two\n', 'one\n']);
  const again = start(fixture, ['call', 'bash', '--command', 'for f in o*d*.txt; do echo 3 > "$f"; done']);
  await again.until('Waiting for approval');
  const { id } = JSON.parse((await ran(fixture, ['changes', '--json'])).output);
  expect(await ran(fixture, ['keep', id, 'o\\nd\\u202e.txt'])).toMatchObject({ code: 0 });
  expect(await again.done).toBe(0);
  expect(read()).toEqual(['3\n', 'one\n']);
});

test('a conflict leaves the changes; the rest is kept, then discarded', { timeout: LONG }, async () => {
  using fixture = place();
  const call = start(fixture, ['call', 'bash', '--command', COMMAND]);
  await call.until('Waiting for approval');
  const { id } = JSON.parse((await ran(fixture, ['changes', '--json'])).output);
  writeFileSync(join(fixture.workspace, 'a.txt'), 'mine\n');
  const conflict = await ran(fixture, ['keep', id]);
  expect(conflict).toMatchObject({ code: 1, output: expect.stringContaining('a.txt') });
  expect(await call.done).toBe(0);
  expect(texts(fixture)).toEqual(['mine\n', 'old\n', null]);
  const discarded = await ran(fixture, ['discard', id, '--lang', 'zh']);
  expect(discarded).toMatchObject({ code: 0, output: '已放弃\n' });
  expect(await ran(fixture, ['keep', id])).toMatchObject({ code: 1 });
  expect(texts(fixture)).toEqual(['mine\n', 'old\n', null]);
});

test('a command ends with its exit code, the diff that was kept, and how to undo it', { timeout: LONG }, async () => {
  using fixture = place();
  const chat = start(fixture, ['chat', '--session', 's', '--mode', 'auto'], true);
  await chat.until('you>');
  chat.type(`/bash ${JSON.stringify({ command: `printf 'two\\033]0;x\\007\\n' > a.txt; echo x > new.txt; exit 3` })}`);
  await chat.until('takes it back.');
  chat.type('/exit');
  await chat.done;
  expect(chat.output()).toMatch(/^ {2}✗ bash exit 3 · \d+ ms$/m);
  expect(chat.output()).toMatch(/^ {4}Kept: 1 changed, 1 new$/m);
  expect(chat.output()).toMatch(/^ {4}--- a\.txt$/m);
  expect(chat.output()).toMatch(/^ {4}-one$/m);
  expect(chat.output()).toMatch(/^ {4}\+two\\x1b\]0;x\\x07$/m);
  expect(chat.output()).not.toContain('\u001b]0;');
  expect(chat.output()).not.toContain('▸ apply_changes');
  const [, callId = ''] = /toolwright undo (\S+) takes it back\./.exec(chat.output()) ?? [];
  const replayed = await ran(fixture, ['replay', 's']);
  expect(replayed.output).toMatch(/^ {4}-one$/m);
  expect(replayed.output).toContain(`toolwright undo ${callId}`);
  expect((await ran(fixture, ['undo', callId])).code).toBe(0);
  expect(texts(fixture)).toEqual(['one\n', 'old\n', null]);
});

test('a long diff is cut, and what a session collects has nothing to undo', { timeout: LONG }, async () => {
  using fixture = place();
  const chat = start(fixture, ['chat', '--session', 's', '--mode', 'auto'], true);
  await chat.until('you>');
  chat.type('/bash {"command":"seq 100 > a.txt"}');
  await chat.until('takes it back.');
  chat.type('/exit');
  await chat.done;
  expect(chat.output()).toMatch(/^ {4}\+30$/m);
  expect(chat.output()).not.toMatch(/^ {4}\+50$/m);
  expect(chat.output()).toMatch(/^ {4}… \d+ more lines$/m);
  const collecting = start(fixture, ['chat', '--collect', '--mode', 'auto'], true);
  await collecting.until('you>');
  collecting.type('/bash {"command":"echo three > a.txt"}');
  await collecting.until('exit code 0');
  collecting.type('/exit');
  await collecting.done;
  expect(collecting.output()).toMatch(/^ {4}Collected for one decision: 1 changed$/m);
  expect(collecting.output()).not.toContain('toolwright undo');
});

test('a hint for what a command met is shown in full, also after long output', { timeout: LONG }, async () => {
  using fixture = place();
  const chat = start(fixture, ['chat', '--mode', 'auto'], true);
  await chat.until('you>');
  const command = 'mkdir d; touch d/f; seq 60; python3 -c "import os; os.rename(\\"kept\\", \\"moved\\")"';
  mkdirSync(join(fixture.workspace, 'kept'));
  chat.type(`/bash ${JSON.stringify({ command })}`);
  await chat.until('[exit code 1');
  chat.type('/exit');
  await chat.done;
  expect(chat.output()).toMatch(
    /^ {4}A folder that was there before the command cannot be renamed by rename\(2\) here: use mv, or move_file\.$/m,
  );
});

test('a call says how its changes are undone, beside its result', { timeout: LONG }, async () => {
  using fixture = place();
  const call = await ran(fixture, ['call', 'bash', '--set', 'mode=auto', '--command', 'echo two > a.txt']);
  const [, callId = ''] = /toolwright undo (\S+) takes it back\./.exec(call.output) ?? [];
  expect((await ran(fixture, ['undo', callId])).code).toBe(0);
  expect(texts(fixture)).toEqual(['one\n', 'old\n', null]);
  const read = await ran(fixture, ['call', 'read_file', '--path', 'a.txt']);
  expect(read.output).not.toContain('undo');
});

test('explain --run shows the effect of a command and keeps nothing', { timeout: LONG }, async () => {
  using fixture = place();
  const shown = await ran(fixture, ['explain', '--run', COMMAND]);
  expect(shown.code).toBe(0);
  for (const name of ['a.txt', 'old.txt', 'new.txt']) expect(shown.output).toContain(name);
  expect(texts(fixture)).toEqual(['one\n', 'old\n', null]);
  expect((await ran(fixture, ['changes'])).output).toBe('None.\n');
});

test('a session collects what its calls change, from one command line to the next', { timeout: LONG }, async () => {
  using fixture = place();
  const collected = (argv: readonly string[]) => ran(fixture, argv);
  expect(await collected(['collect', 's'])).toMatchObject({ code: 0, output: expect.stringContaining('collected') });
  const first = await collected(['call', 'bash', '--session', 's', '--command', COMMAND]);
  expect(first).toMatchObject({ code: 0, output: expect.stringContaining('Collected') });
  const second = await collected(['call', 'read_file', '--session', 's', '--path', 'a.txt']);
  expect(second.output).toContain('two');
  expect(texts(fixture)).toEqual(['one\n', 'old\n', null]);
  const listed = await collected(['changes']);
  expect(listed.output).toMatch(/s · collecting/);
  const { id } = JSON.parse((await collected(['changes', '--json'])).output);
  expect((await collected(['changes', id])).output).toMatch(/^M a\.txt \+1 −1$/m);
  expect((await collected(['keep', id, 'a.txt', 'new.txt'])).code).toBe(0);
  expect(texts(fixture)).toEqual(['two\n', 'old\n', 'x\n']);
  expect(await collected(['collect', 's', '--end'])).toMatchObject({ code: 0, output: 'None.\n' });
  expect((await collected(['collect', 's', '--end'])).code).toBe(1);
});

test('[D13] a command that failed has a cross and its exit code, in the call and in history', {
  timeout: LONG,
}, async () => {
  using fixture = place();
  const call = await ran(fixture, ['call', 'bash', '--command', 'echo broken; exit 7']);
  expect(call.output).toContain('✗ exit 7');
  const { output } = await ran(fixture, ['history', '--tool', 'bash']);
  expect(output).toMatch(/^✗ .* bash succeeded, exit 7/m);
});
