import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openAgent } from '../app/agent/open-agent.ts';
import { openModel } from '../app/agent/open-model.ts';
import { type App, openApp } from '../app/open-app.ts';
import { ExecutionContext } from '../kernel/call/execution-context.ts';
import { type CliFixture, createCliFixture } from '../testing/cli-fixture.ts';
import { modelServer } from '../testing/model-server.ts';
import { anthropicReply } from '../testing/wire-turn.ts';
import type { Cli } from './cli.ts';
import { createLiveArea } from './run/live-area.ts';
import { playRun } from './run/play-run.ts';
import { runCli } from './run-cli.ts';
import { styleFor } from './text/style.ts';
import { en } from './text/words-en.ts';

async function cli(place: CliFixture, argv: readonly string[], { input = '', env = {} } = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(input);
  const said = { out: '', err: '' };
  stdout.setEncoding('utf8').on('data', (text) => (said.out += text));
  stderr.setEncoding('utf8').on('data', (text) => (said.err += text));
  const io = {
    stdin,
    stdout,
    stderr,
    env: { ...place.env, ...env },
    cwd: place.workspace,
    onInterrupt: () => () => {},
  };
  return { code: await runCli(argv, io, '1.2.3'), ...said };
}

/** A call in a terminal where a person types. */
function callByHand(place: CliFixture, argv: readonly string[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const [stdout, stderr] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
  const said = { out: '', err: '' };
  stdout.setEncoding('utf8').on('data', (text) => (said.out += text));
  stderr.setEncoding('utf8').on('data', (text) => (said.err += text));
  const io = { stdin, stdout, stderr, env: place.env, cwd: place.workspace, onInterrupt: () => () => {} };
  return {
    ended: runCli(['call', ...argv], io, '1.2.3'),
    said,
    type: (line: string) => stdin.write(`${line}\n`),
    async shows(text: string): Promise<void> {
      for (let tries = 0; tries < 600 && !said.err.includes(text); tries++) await delay(20);
      expect(said.err).toContain(text);
    },
  };
}

/** Waits for a question as another program would see it. */
async function question(place: CliFixture): Promise<string> {
  for (let tries = 0; tries < 300; tries++) {
    const { out } = await cli(place, ['approvals', 'list', '--json']);
    if (out !== '') return JSON.parse(out).id;
    await delay(50);
  }
  throw new Error('nobody was asked');
}

const content = (place: CliFixture, name = 'a.txt') => readFileSync(join(place.workspace, name), 'utf8');
const PATH = process.env.PATH;

test('a call that waits is approved from another terminal with other arguments, after these were shown', {
  timeout: 60_000,
}, async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'old\n' });
  const call = cli(place, ['call', 'write_file', '--path', 'a.txt', '--content', 'asked\n', '--json']);
  const id = await question(place);
  const shown = await cli(place, ['approvals', 'show', id]);
  expect(shown.out).toMatch(/-old\n +\+asked/);
  expect(shown.out).toContain('--always would save: allow write_file(a.txt)');

  const wrong = await cli(place, ['approvals', 'approve', id, '--input', '{"path":"../out.txt"}']);
  expect(wrong).toMatchObject({ code: expect.any(Number), out: '' });
  expect(wrong.err).toContain('../out.txt');
  expect((await cli(place, ['approvals', 'approve', id, '--input', 'x'])).err).toContain('--input must be a JSON');
  const looked = await cli(place, ['approvals', 'show', id, '--input', '{"content":"mine\\n"}']);
  expect(looked.out).toMatch(/content changed; this runs instead:[\s\S]*\+mine/);
  expect(content(place)).toBe('old\n');

  const approved = await cli(place, ['approvals', 'approve', id, '--input', '{"content":"mine\\n"}']);
  expect(approved.out).toMatch(/content changed; this runs instead:[\s\S]*\+mine[\s\S]*approved\.$/m);
  expect(await call).toMatchObject({ code: 0 });
  expect(content(place)).toBe('mine\n');
  expect((await cli(place, ['approvals', 'approve', id])).err).toContain('is no longer pending');
});

test('"always" says which rule it saved, and nobody is asked the next time', { timeout: 60_000 }, async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'old\n' });
  const write = (words: string) => cli(place, ['call', 'write_file', '--path', 'a.txt', '--content', words, '--json']);
  const call = write('one\n');
  const approved = await cli(place, ['approvals', 'approve', await question(place), '--always']);
  expect(approved.out).toContain('Saved: allow write_file(a.txt)');
  expect(await call).toMatchObject({ code: 0 });
  expect(await write('two\n')).toMatchObject({ code: 0, err: '' });
  expect(content(place)).toBe('two\n');
});

test('a call asks where it was made: what was typed before is no answer, and a reason is told as it was written', {
  timeout: 60_000,
}, async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'old\n' });
  const call = callByHand(place, ['write_file', '--path', 'a.txt', '--content', 'asked\n', '--json']);
  call.type('y');
  await call.shows('[y]es');
  expect(call.said.err).toMatch(/-old\n +\+asked/);
  await delay(200);
  expect(content(place)).toBe('old\n');
  call.type('n');
  await call.shows('Reason for the model');
  call.type('Not on a Friday');
  await call.ended;
  expect(JSON.parse(call.said.out)).toMatchObject({
    ok: false,
    error: { code: 'APPROVAL_DENIED', message: expect.stringContaining('Not on a Friday') },
  });
  expect(content(place)).toBe('old\n');
  const { session } = JSON.parse((await cli(place, ['history', '--json'])).out);
  const { out } = await cli(place, ['replay', session, '--json']);
  expect(out).toMatch(/"approval\.decided".*"by":"terminal"/);
});

test('"always" at the question shows its rule, saves it, and nobody is asked the next time', {
  timeout: 60_000,
}, async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'old\n', 'c.txt': 'old\n' });
  const call = callByHand(place, ['write_file', '--path', 'a.txt', '--content', 'one\n']);
  await call.shows('always: allow write_file(a.txt) in this workspace');
  await call.shows('[a]lways');
  call.type('a');
  expect(await call.ended).toBe(0);
  expect(call.said.err).toContain('Saved: allow write_file(a.txt)');
  const again = await cli(place, ['call', 'write_file', '--path', 'a.txt', '--content', 'two\n', '--json']);
  expect(again).toMatchObject({ code: 0, err: '' });
  // No rule allows to delete, so "always" is not offered there.
  const typed = { input: '/write_file c.txt new\na\n/delete_file a.txt\na\nn\n\n' };
  const { out } = await cli(place, ['chat'], typed);
  expect(out.match(/always: allow/g)).toHaveLength(1);
  expect(content(place, 'c.txt')).toBe('new');
  expect(content(place)).toBe('two\n');
});

test('a call is edited in the editor that the person chose', { timeout: 60_000 }, async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'old\n' });
  const editor = `sed -i s/asked/edited/`;
  const call = callByHand({ ...place, env: { ...place.env, EDITOR: editor } }, [
    'write_file',
    '--path',
    'a.txt',
    '--content',
    'asked\n',
  ]);
  await call.shows('[e]dit');
  call.type('e');
  expect(await call.ended).toBe(0);
  expect(content(place)).toBe('edited\n');
});

test('a question at the terminal of a call ends when another door was quicker', { timeout: 60_000 }, async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'old\n' });
  const call = callByHand(place, ['write_file', '--path', 'a.txt', '--content', 'asked\n', '--json']);
  await call.shows('[y]es');
  const id = await question(place);
  await cli(place, ['approvals', 'approve', id]);
  expect(await call.ended).toBe(0);
  expect(call.said.err).toContain(`${id} is no longer pending`);
  expect(content(place)).toBe('asked\n');
});

/** The app with an approver that never answers; closing it stands for the end of its process. */
async function unanswered(place: CliFixture, env: object, work: (app: App) => unknown): Promise<void> {
  const approver = () => new Promise<never>(() => {});
  const opened = await openApp({ workspace: place.workspace, env: { ...place.env, ...env }, approver });
  if (!opened.ok) throw new Error(opened.error.message);
  void work(opened.value);
  while ((await opened.value.store.approvals({ state: 'pending' })).length === 0) await delay(20);
  await opened.value.store.close();
}

test.each([
  ['yes', 'y\n', 'by model'],
  ['an edit', 'e\n{"path":"a.txt","content":"by me"}\n', 'by me'],
  ['no', 'n\nnot now\n', 'old'],
])(
  'chat asks again what its session left unanswered, and goes on with %s',
  { timeout: 60_000 },
  async (_, typed, end) => {
    using place = createCliFixture(PATH, { 'a.txt': 'old' });
    const turns = [
      { calls: [{ name: 'write_file', args: { path: 'a.txt', content: 'by model' } }] },
      { text: 'So be it.' },
    ];
    await using model = await modelServer((_, index) => anthropicReply(turns[index] ?? { text: 'Hm.' }, index));
    const env = {
      TOOLWRIGHT_PROVIDER: 'anthropic',
      TOOLWRIGHT_MODEL_BASE_URL: model.url,
    };
    await unanswered(place, env, (app) => {
      const opened = openModel(app.loaded.config, env);
      return opened.ok && openAgent(app, opened.value).run('s1', 'Change a.txt');
    });
    const { code, out } = await cli(place, ['chat', '--session', 's1'], { input: typed, env });
    expect({ code, out }).toMatchObject({ code: 0, out: expect.stringContaining('Allow write_file?') });
    expect(out).toContain('So be it.');
    expect(content(place)).toBe(end);
    expect(model.requests.length).toBe(2);
  },
);

test('a run that is taken up stops when nobody can be asked what it left unanswered', { timeout: 60_000 }, async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'old' });
  const turn = { calls: [{ name: 'write_file', args: { path: 'a.txt', content: 'by model' } }] };
  await using model = await modelServer((_, index) => anthropicReply(turn, index));
  const env = { ...place.env, TOOLWRIGHT_PROVIDER: 'anthropic', TOOLWRIGHT_MODEL_BASE_URL: model.url };
  const agentOf = (app: App) => {
    const opened = openModel(app.loaded.config, env);
    if (!opened.ok) throw new Error(opened.error.message);
    return openAgent(app, opened.value);
  };
  await unanswered(place, env, (app) => agentOf(app).run('s1', 'Change a.txt'));
  const again = await openApp({ workspace: place.workspace, env });
  if (!again.ok) throw new Error(again.error.message);
  const app = again.value;
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr: stdout, env, cwd: place.workspace, onInterrupt: () => () => {} };
  const silent = { print() {}, note() {} };
  const terminal: Cli = {
    io,
    argv: [],
    words: en,
    style: styleFor(io),
    live: createLiveArea(io),
    exitCode: 0,
    ...silent,
  };
  const approver = { ask: () => Promise.reject(new Error('the terminal is gone')) };
  const run = { app, agent: agentOf(app), session: 's1', task: null, json: false, approver };
  await expect(playRun(terminal, { ...run, signal: new AbortController().signal })).rejects.toThrow('terminal is gone');
  expect((await app.store.events('s1')).at(-1)).toMatchObject({ type: 'run.finished', data: { reason: 'stopped' } });
  await app.close();
});

test('a call made by hand that was left unanswered is asked about again too', { timeout: 60_000 }, async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'old' });
  await unanswered(place, {}, (app) => {
    const context = new ExecutionContext({ ...app.context, sessionId: 's1' });
    return app.executor.execute('write_file', context, { path: 'a.txt', content: 'new' });
  });
  const { out } = await cli(place, ['chat', '--session', 's1'], { input: 'y\n' });
  expect(out).toContain('✓ write_file');
  expect(content(place)).toBe('new');
});
