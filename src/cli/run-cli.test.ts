import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type CliFixture, createCliFixture } from '../testing/cli-fixture.ts';
import { modelServer } from '../testing/model-server.ts';
import { anthropicReply, type WireTurn } from '../testing/wire-turn.ts';
import { runCli } from './run-cli.ts';
import { en } from './text/words-en.ts';

interface Ran {
  code: number;
  out: string;
  err: string;
}

/** Runs one command line in this process, with its own home; `input` is typed line by line. */
async function cli(
  place: CliFixture,
  argv: readonly string[],
  more: { input?: string; env?: object; isTerminal?: boolean } = {},
): Promise<Ran> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(more.input ?? '');
  const said = { out: '', err: '' };
  stdout.setEncoding('utf8').on('data', (text) => (said.out += text));
  stderr.setEncoding('utf8').on('data', (text) => (said.err += text));
  const env = { ...place.env, ...more.env } as Record<string, string>;
  Object.assign(stdout, { isTTY: more.isTerminal ?? false });
  const io = { stdin, stdout, stderr, env, cwd: place.workspace, onInterrupt: () => () => {} };
  const code = await runCli(argv, io, '1.2.3');
  return { code, ...said };
}

function toModel(url: string): object {
  return { env: { TOOLWRIGHT_PROVIDER: 'anthropic', TOOLWRIGHT_MODEL_BASE_URL: url, ANTHROPIC_API_KEY: 'k' } };
}

/** A model that gives these turns one after the other. */
function saying(...turns: WireTurn[]) {
  return modelServer((_, index) => anthropicReply(turns[index] ?? { text: 'Done.' }, index));
}

const PATH = process.env.PATH;

const COMMANDS = Object.keys(en.commands).map((name) => [name]);
const DEEPER = [
  ['approvals', 'approve'],
  ['tools', 'schema'],
  ['rules', 'allow'],
  ['call', 'read_file'],
  ['call', 'bash'],
];

test.each(['en', 'zh'])('every help fits a screen of 24 by 80 and is in one language: %s', async (lang) => {
  using place = createCliFixture(PATH);
  for (const words of [[], ...COMMANDS, ...DEEPER]) {
    const { code, out } = await cli(place, [...words, '--help'], {
      env: { LANG: `${lang}_XX.UTF-8`, NO_COLOR: '1' },
      isTerminal: true,
    });
    const lines = out.trimEnd().split('\n');
    expect({ words, code, lines: lines.length < 24, wide: lines.filter((line) => widthOf(line) > 80) }).toEqual({
      words,
      code: 0,
      lines: true,
      wide: [],
    });
    // A tool's own description is for models too, and stays English.
    const isTool = words[0] === 'call' && words.length > 1;
    const foreign = lines.filter(
      (line) => /^ +(-|[a-z]+ {2})/.test(line) && /\p{Script=Han}/u.test(line) !== (lang === 'zh'),
    );
    if (!isTool) expect({ words, foreign }).toEqual({ words, foreign: [] });
  }
});

test('what is cut to fit a terminal is whole in a pipe', async () => {
  using place = createCliFixture(PATH);
  for (const words of [['call', 'bash', '--help'], ['tools']]) {
    expect((await cli(place, words, { isTerminal: true })).out).toContain('…\n');
    expect((await cli(place, words)).out).not.toContain('…\n');
  }
});

test('explain takes parameters as call does, and a tool that is off is still shown', async () => {
  using place = createCliFixture(PATH);
  const flags = await cli(place, ['explain', 'bash', '--command', 'rm -rf /', '--json']);
  const values = await cli(place, ['explain', 'bash', 'rm -rf /', '--json']);
  expect([flags.code, flags.out]).toEqual([values.code, values.out]);
  expect(JSON.parse(flags.out)).toMatchObject({ verdict: 'deny' });
  await cli(place, ['tools', 'disable', 'bash']);
  expect((await cli(place, ['tools', 'show', 'bash'])).out).toContain('"command"');
  const schema = await cli(place, ['tools', 'schema', 'bash']);
  expect([schema.code, schema.err]).toEqual([3, '✗ bash is disabled; enable it with toolwright tools enable bash.\n']);
});

test('explain judges what a shell gave it, line ends and control characters included', async () => {
  using place = createCliFixture(PATH);
  for (const command of ['ls\ntouch b', 'echo "a\\b"', 'echo \u001b']) {
    const typed = await cli(place, ['explain', 'bash', command, '--json']);
    const flag = await cli(place, ['explain', 'bash', '--command', command, '--json']);
    expect(JSON.parse(typed.out)).toEqual(JSON.parse(flag.out));
  }
});

test('a setting is a flag of call and explain too, and holds for the call', async () => {
  using place = createCliFixture(PATH);
  const input = ['--input', '{"path":"new.txt","content":"x"}'];
  const words = ['--path', 'new.txt', '--content', '--mode'];
  for (const tries of [input, words, ['--content=x', '--path=new.txt']]) {
    const ran = await cli(place, ['call', 'write_file', ...tries, '--mode', 'plan']);
    expect([ran.code, ran.err]).toEqual([3, expect.stringContaining('Mode plan only reads')]);
    const explained = await cli(place, ['explain', 'write_file', ...tries, '--mode=plan', '--json']);
    expect(JSON.parse(explained.out)).toMatchObject({ verdict: 'deny', mode: 'plan' });
  }
  expect(existsSync(join(place.workspace, 'new.txt'))).toBe(false);
  expect((await cli(place, ['call', 'write_file', ...words])).code).toBe(0);
  expect(readFileSync(join(place.workspace, 'new.txt'), 'utf8')).toBe('--mode');
});

test('a command logs on the error stream, if a level was chosen', async () => {
  using place = createCliFixture(PATH);
  const missing = ['call', 'read_file', '--path', 'none'];
  expect((await cli(place, missing)).err).not.toContain('"level"');
  expect((await cli(place, missing, { env: { TOOLWRIGHT_LOG_LEVEL: '' } })).err).not.toContain('"level"');
  for (const chosen of [
    ['--log-level', 'warn'],
    ['--set', 'log-level=warn'],
  ]) {
    const { out, err } = await cli(place, [...missing, ...chosen]);
    expect(JSON.parse(err.split('\n')[0] ?? '')).toMatchObject({ level: 40, code: 'FILE_NOT_FOUND' });
    expect(out).toBe('');
  }
});

test('the language is that of the flag, else of the locale', async () => {
  using place = createCliFixture(PATH);
  const zh = { env: { LANG: 'zh_CN.UTF-8' } };
  expect((await cli(place, ['--help'], zh)).out).toContain('让 AI 智能体安全地使用工具');
  expect((await cli(place, ['--help', '--lang', 'en'], zh)).out).toContain('Run agent tools safely');
  expect((await cli(place, ['frobnicate'], zh)).err).toBe('✗ 没有命令 frobnicate。 用 toolwright --help 查看用法。\n');
});

test('the language may stand before the command and behind it, and the command runs as it does without', async () => {
  using place = createCliFixture(PATH);
  for (const lang of [['--lang', 'zh'], ['--lang=zh'], ['--lang', 'tools']]) {
    const missing = await cli(place, [...lang, 'undo', 'no-such-call']);
    const said = lang.includes('tools') ? 'no-such-call' : /[\u4e00-\u9fff]/;
    expect([lang, missing.code, missing.err]).toEqual([lang, 1, expect.stringMatching(said)]);
  }
  expect(await cli(place, ['--lang', 'zh', 'frobnicate'])).toMatchObject({ code: 2 });
  const behind = [['tools'], ['tools', 'show', 'bash'], ['history']];
  for (const words of behind) expect((await cli(place, [...words, '--lang', 'zh'])).code).toBe(0);
  expect((await cli(place, ['call', '--lang', 'zh', 'list_directory'])).code).toBe(0);
  // After the tool's name it is a parameter of the tool.
  await cli(place, ['call', 'no_such_tool', '--lang', 'zh']);
  expect(JSON.parse((await cli(place, ['history', '--json', '--limit', '1'])).out).args).toEqual({ lang: 'zh' });
  expect(await cli(place, ['--lang'])).toMatchObject({ code: 2, err: expect.stringContaining('--lang needs a value') });
});

test('what stops a start is said in Chinese too', async () => {
  using place = createCliFixture(PATH);
  const zh = { LANG: 'zh_CN.UTF-8' };
  const noKey = await cli(place, ['run', 'Hi'], { env: { ...zh, TOOLWRIGHT_PROVIDER: 'anthropic' } });
  expect(noKey.err).toContain('api.anthropic.com 需要密钥：请设置 ANTHROPIC_API_KEY，或');
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const taken = await cli(place, ['start', '--port', String(port)], { env: zh });
  other.close();
  expect(taken.err).toContain(`127.0.0.1 的端口 ${port} 已被占用。`);
});

test('why a call is asked about or fails is said in Chinese too', async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'x' });
  const zh = { env: { LANG: 'zh_CN.UTF-8' } };
  expect((await cli(place, ['explain', 'write_file', 'a.txt', 'y'], zh)).out).toContain('它会修改 a.txt。');
  expect((await cli(place, ['call', 'read_file', '--path', 'none'], zh)).err).toContain('错误：没有文件 none。');
  expect((await cli(place, ['call', 'read_file', '--path', '.env'], zh)).err).toContain('环境变量文件中有机密');
});

test('a key that the model refuses is told with what to check', async () => {
  using place = createCliFixture(PATH);
  const refusing = createHttpServer((_, response) =>
    response.writeHead(401).end('{"error":{"message":"invalid key"}}'),
  );
  await once(refusing.listen(0, '127.0.0.1'), 'listening');
  const { port } = refusing.address() as AddressInfo;
  const settings = ['--provider', 'anthropic', '--model-base-url', `http://127.0.0.1:${port}`];
  const wrong = { ANTHROPIC_API_KEY: 'wrong' };
  const english = await cli(place, ['run', 'Hi', ...settings], { env: wrong });
  const chinese = await cli(place, ['run', 'Hi', ...settings], { env: { ...wrong, LANG: 'zh_CN.UTF-8' } });
  refusing.close();
  expect(english).toMatchObject({ code: 5, out: expect.stringContaining('401: invalid key. Check the key') });
  expect(chinese).toMatchObject({ code: 5, out: expect.stringContaining('401: invalid key。请检查密钥是否正确') });
});

/** Width in columns: a Chinese character takes two. */
function widthOf(line: string): number {
  return [...line].reduce((sum, char) => sum + (/[\p{Script=Han}\u3000-\u303f\uff00-\uff60]/u.test(char) ? 2 : 1), 0);
}

test.each([
  [['frobnicate'], 2, 'Unknown command: frobnicate. See toolwright --help'],
  [['chatt'], 2, 'Did you mean chat?'],
  [['tools', '--frob'], 2, 'Unknown option: --frob. See toolwright tools --help'],
  [['undo'], 1, 'Nothing to undo: no call here changed files'],
  [['history', '--limit', 'abc'], 2, 'Must be a whole number'],
  [['tools', '--port', '99999'], 4, 'port cannot be 99999: Too big'],
  [['token', 'ana', '--role', 'king'], 2, 'one of'],
  [['call', 'read_file', '--input', '{"path":'], 2, '--input must be a JSON object'],
  [['call', 'read_file', '--path', 'x', 'README.md'], 2, 'give parameters as --name value'],
  [['call', 'read_file', 'missing.md'], 1, 'missing.md'],
  [['call', 'nope'], 2, 'Unknown tool nope'],
  [['call', 'readfile', '--path', 'x'], 2, 'Did you mean read_file?'],
  [['call', 'read_file'], 2, 'parameter: path. See toolwright call read_file --help'],
  [['call', 'read_file', '--path', 'x', '--mode'], 2, '--mode needs a value'],
  [['call', 'read_file', '--input', '{"path":"x"}', '--limit', '1'], 2, 'leave out --limit'],
  [['call', 'elsewhere_tool', '--mode', 'plan'], 2, 'Unknown tool elsewhere_tool'],
  [['explain', 'bahs', 'ls'], 2, 'Unknown tool bahs; toolwright tools lists all. Did you mean bash?'],
  [['explain', 'read_file', '--path'], 2, '--path needs a value'],
  [['explain', 'read_file', '../x'], 1, '../x is outside the workspace'],
  [['explain', 'grep', 'word', '/etc'], 1, '/etc is outside the workspace'],
  [
    ['tools', 'enabel', 'bash'],
    2,
    'Unknown command: tools enabel. Did you mean tools enable? See toolwright tools --help',
  ],
  [['rules', 'add', 'x'], 2, 'Unknown command: rules add.'],
  [['verify', 'nope'], 2, 'Unknown session nope'],
  [['tools', '-w', 'nowhere'], 4, 'nowhere is not a folder'],
  [['run'], 2, 'Missing task'],
  [['run', 'x'], 5, 'No model is configured. Set ANTHROPIC_API_KEY'],
  [['tools', '--mode', 'wild'], 4, 'mode cannot be "wild"'],
  [['call', 'read_file', '--path', 'x', '--mode', 'wild'], 4, 'mode cannot be "wild"'],
  [['call', 'read_file', '--path', 'x', '-w', 'nowhere'], 4, 'nowhere is not a folder'],
  [['start', '--mode', 'wild'], 4, 'mode cannot be "wild"'],
  [['start', '-w', 'nowhere'], 4, 'nowhere is not a folder'],
  [['token', 'ana', '--role', 'viewer', '--set', 'mode=wild'], 4, 'mode cannot be "wild"'],
  [['undo', 'nobody'], 1, 'Nothing to undo for call nobody'],
  [['changes', 'nope'], 1, 'Unknown pending changes nope; toolwright changes lists them.'],
  [['keep', 'nope', 'a.txt'], 1, 'Unknown pending changes nope'],
  [['discard', 'nope'], 1, 'Unknown pending changes nope'],
  [['keep'], 2, '<id> is missing.'],
  [['explain'], 2, '<tool> is missing.'],
  [['tools', 'show', 'nope'], 2, 'Unknown tool nope'],
  [['rules', 'allow', 'nope(x)'], 2, 'there is no tool nope'],
  [['approvals', 'approve', 'nope'], 1, 'Unknown approval nope'],
  [['replay', 'nope'], 2, 'Unknown session nope'],
  [['completion', 'tcsh'], 2, 'bash, zsh, fish'],
])('%j ends with %i and one sentence', async (argv, code, words) => {
  using place = createCliFixture(PATH);
  const ran = await cli(place, argv);
  expect(ran.code).toBe(code);
  expect(ran.err).toContain(words);
});

test('a task runs headless: what needs a person is refused, and the rest is done and recorded', async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'alpha' });
  const calls = [
    { name: 'write_file', args: { path: 'a.txt', content: 'new' } },
    { name: 'write_file', args: { path: 'b.txt', content: 'beta' } },
  ];
  await using model = await saying({ text: 'I write.', calls }, { text: 'One was refused.' });
  const { code, out } = await cli(place, ['run', 'write both', '--session', 's1'], toModel(model.url));
  expect(code).toBe(0);
  expect(out).toContain('I write.\n▸ write_file Write ');
  expect(out).toContain('▸ write_file Write a.txt (3 characters)\n');
  expect(out).toContain('✗ write_file denied');
  expect(out).toContain('✓ done (2 turns, 30 tokens)');
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('alpha');
  expect(readFileSync(join(place.workspace, 'b.txt'), 'utf8')).toBe('beta');

  const again = await cli(place, ['run', 'and again', '--session', 's1', '--json'], toModel(model.url));
  const lines = again.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ type }) => type)).toEqual([
    'run.started',
    'message.added',
    'message.streamed',
    'message.added',
    'run.finished',
  ]);
  expect(lines[2].data).toEqual({ kind: 'text', text: 'Done.' });

  const replayed = await cli(place, ['replay', 's1']);
  expect(replayed.out).toContain('Nothing is executed');
  expect(replayed.out).toContain('you> write both');
  expect(replayed.out).toContain('One was refused.');
  const history = await cli(place, ['history', '--json']);
  const [last] = history.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(last).toMatchObject({ session: 's1', tool: 'write_file' });
  const done = history.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .find(({ state }) => state === 'succeeded');
  expect((await cli(place, ['undo'])).out).toContain('Undone: b.txt restored');
  const taken = JSON.parse((await cli(place, ['history', '--tool', 'person:undo', '--json'])).out.split('\n')[0] ?? '');
  expect(taken).toMatchObject({ tool: 'person:undo', args: { by: 'terminal', call: done.id }, state: 'succeeded' });
  expect((await cli(place, ['undo', done.id])).err).toContain('were undone already');
  const failed = JSON.parse(
    (await cli(place, ['history', '--tool', 'person:undo', '--json'])).out.split('\n')[0] ?? '',
  );
  expect(failed).toMatchObject({ args: { by: 'terminal', call: done.id }, state: 'failed' });
  expect(existsSync(join(place.workspace, 'b.txt'))).toBe(false);
  expect((await cli(place, ['verify'])).out).toContain('The audit log is intact');
});

test('a task comes from the input too, and a run whose calls were all denied says what would allow them', async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'alpha' });
  const calls = [{ name: 'write_file', args: { path: 'a.txt', content: 'new' } }];
  await using model = await saying({ calls }, { text: 'Refused.' });
  const ran = await cli(place, ['run'], { input: 'write it\n', ...toModel(model.url) });
  expect(model.requests[0]?.body.messages[0].content[0].text).toBe('write it');
  expect(ran).toMatchObject({ code: 3, err: expect.stringContaining('No call ran: the only one was denied.') });
  expect(ran.out).toContain('nobody can be asked without a terminal');
  expect(ran.out).toContain("--mode auto, or with: toolwright rules allow 'write_file(a.txt)'");
  await cli(place, ['run', '-'], { input: 'again\n', ...toModel(model.url) });
  expect(model.requests.at(-1)?.body.messages[0].content[0].text).toBe('again');
});

test('a session goes on in its own workspace, and says where that is anywhere else', async () => {
  using place = createCliFixture(PATH, { 'other/b.txt': 'beta' });
  await using model = await saying({ text: 'Here.' });
  expect((await cli(place, ['run', 'hi', '--session', 's1'], toModel(model.url))).code).toBe(0);
  const there = ['-w', join(place.workspace, 'other')];
  for (const words of [
    ['run', 'hi', '--session', 's1'],
    ['run', 'hi', '--resume', 's1'],
    ['run', '--resume', 's1'],
    ['chat', '--session', 's1'],
  ]) {
    const { code, err } = await cli(place, [...words, ...there], { input: 'hi\n', ...toModel(model.url) });
    const said = expect.stringMatching(
      /Session s1 belongs to ws-[0-9a-f]{8}: run it there, or leave --(session|resume) out/,
    );
    expect([words, code, err]).toEqual([words, 2, said]);
  }
  expect(model.requests).toHaveLength(1);
  const zh = { env: { ...Object(toModel(model.url)).env, LANG: 'zh_CN.UTF-8' } };
  expect((await cli(place, ['run', '--resume', 's1', ...there], zh)).err).toContain('会话 s1 属于 ws-');
});

test('a run is not taken up where there is none, and that is wrong use', async () => {
  using place = createCliFixture(PATH);
  await using model = await saying({ text: 'Here.' });
  const typo = await cli(place, ['run', '--resume', 'typo'], toModel(model.url));
  expect(typo).toMatchObject({ code: 2, err: expect.stringContaining('Unknown session typo. toolwright history') });
  await cli(place, ['run', 'hi', '--session', 's1'], toModel(model.url));
  const over = await cli(place, ['run', '--resume', 's1'], toModel(model.url));
  expect(over).toMatchObject({ code: 2, err: expect.stringContaining('Session s1 has no run to resume') });
  expect(model.requests).toHaveLength(1);
});

test('[E20] each error code reaches a program through the command line', { timeout: 180_000 }, async () => {
  using place = createCliFixture(PATH, { '.env': 'SECRET=1' });
  const calls = [
    { name: 'read_file', args: { path: '../outside.txt' } },
    { name: 'read_file', args: { path: 'missing.txt' } },
    { name: 'read_file', args: { path: '.env' } },
    { name: 'bash', args: { command: 'sleep 60', timeout: 1 } },
    { name: 'bash', args: { command: 'for i in $(seq 3000); do sleep 30 & done; wait' } },
  ];
  await using model = await saying({ calls });
  const { out } = await cli(place, ['run', 'fail', '--json', '--mode', 'auto'], toModel(model.url));
  const events = out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const codes = events.flatMap(({ type, data }) => (type === 'call.finished' ? [data.outcome.error?.code] : []));
  expect(codes.toSorted()).toEqual([
    'EXECUTION_ERROR',
    'FILE_NOT_FOUND',
    'INVALID_PATH',
    'PERMISSION_DENIED',
    'TIMEOUT',
  ]);
});

test('call takes values as explain does, and exits as the command did', async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'alpha' });
  expect(await cli(place, ['call', 'bash', 'ls'])).toMatchObject({ code: 0, out: expect.stringContaining('a.txt') });
  expect((await cli(place, ['call', 'bash', 'exit 3'])).code).toBe(3);
  expect((await cli(place, ['call', 'bash', '--command', 'false', '--json'])).code).toBe(1);
  expect(await cli(place, ['call', 'bash', 'sleep 60', '--timeout', '1'])).toMatchObject({ code: 124 });
});

test('[E20] call exits with the code of the signal that ended a program', { timeout: 180_000 }, async () => {
  using place = createCliFixture(PATH);
  const killed = await cli(place, ['call', 'bash', '--command', 'kill -KILL $$', '--json']);
  expect(killed.code).toBe(137);
  expect(JSON.parse(killed.out).error).toMatchObject({ code: 'EXECUTION_ERROR', details: { exitCode: 137 } });
  expect((await cli(place, ['call', 'run_code', '--language', 'bash', '--code', 'kill -TERM $$'])).code).toBe(143);
});

test('without a key, chat is a place to call tools by hand, with approval and edit', async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'alpha' });
  const input = [
    '/read_file a.txt',
    '/write_file path=a.txt content="two words"',
    'e',
    '{"path":"a.txt","content":"edited"}',
    '/write_file a.txt never',
    'n',
    'leave it',
    '/undo',
    'hello',
    '/read_fil a.txt',
    '/read_file ../of-somebody-else/in/a-folder-with-a-long-name.txt',
    '/exit',
  ].join('\n');
  const { code, out } = await cli(place, ['chat'], { input });
  expect(code).toBe(0);
  expect(out).toContain('Manual mode, no model');
  expect(out).toContain('? Allow write_file?');
  expect(out).toContain('The person who approved this changed content');
  expect(out).toContain('A person refused to run write_file: leave it');
  expect(out).toContain('Undone: a.txt restored');
  expect(out).toContain('Unknown tool read_fil; /tools lists all. Did you mean read_file?');
  expect(out).toContain('is outside the workspace. Use a path relative to the workspace root.\n');
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('alpha');
});

test('chat goes on with a run that was cut off, and shows text without obeying it', async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'alpha' });
  await using model = await saying({ text: 'Hello \u001b[31mred\u0007.' }, { text: 'Again.' });
  const { out } = await cli(place, ['chat', '--session', 's1'], { input: 'hi\nand again\n', ...toModel(model.url) });
  expect(out).toContain('Hello \\x1b[31mred\\x07.');
  expect(out).toContain('Again.');
  expect(model.requests[1]?.body.messages).toHaveLength(3);
});

test('chat switches the model and the mode, begins a new session, lists sessions and counts tokens', async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'alpha' });
  await using model = await saying({ text: 'First.' }, { text: 'Second.' });
  const lines = [
    'hi',
    '/cost',
    '/new',
    '/cost',
    '/model other-model',
    'again',
    '/mode plan',
    '/bash touch b.txt',
    '/mode wild',
  ];
  const typed = { input: [...lines, '/write_file a.txt x', '/sessions', '/model manual', 'hello', '/help'].join('\n') };
  const { out, err } = await cli(place, ['chat', '--session', 's1'], { ...typed, ...toModel(model.url) });
  expect(out).toContain('1 turn, 15 tokens');
  expect(out).toContain('0 turns, 0 tokens');
  expect(model.requests.map(({ body }) => [body.model, body.messages.length])).toEqual([
    [expect.any(String), 1],
    ['other-model', 1],
  ]);
  expect(out).toContain('Mode: plan');
  expect(out).toContain('Mode plan only reads');
  expect(err).toContain('Unknown mode wild: use plan, ask, auto, strict.');
  expect(out).toMatch(/^chat-\d{8}-\S+ Chat in a terminal\ns1 Chat in a terminal$/m);
  expect(out).toContain('Manual mode, no model');
  expect(readFileSync(join(place.workspace, 'a.txt'), 'utf8')).toBe('alpha');
});

test('rules, switches and explanations act on every later call', async () => {
  using place = createCliFixture(PATH, { 'a.txt': 'x' });
  expect((await cli(place, ['explain', 'write_file', 'a.txt', 'y'])).out).toContain('needs approval');
  const shown = (await cli(place, ['explain', 'bash', '--input', '{"command":"ls && touch b.txt","background":true}']))
    .out;
  expect(shown).toContain('The approval would show:\n  $ ls && touch b.txt');
  const saved = await cli(place, ['rules', 'allow', 'write_file(a.txt)', '--json']);
  expect((await cli(place, ['rules'])).out).toMatch(/allow write_file\(a\.txt\) · \S+-[0-9a-f]{8}/);
  expect((await cli(place, ['explain', 'write_file', 'a.txt', 'y', '--json'])).out).toContain('"verdict":"allow"');
  await cli(place, ['rules', 'remove', JSON.parse(saved.out).id]);
  expect((await cli(place, ['rules'])).out).toContain('None.');
  await cli(place, ['rules', 'allow', 'bash(npm test *)']);
  await cli(place, ['rules', 'remove', 'bash(npm test *)']);
  expect((await cli(place, ['rules'])).out).toContain('None.');
  const token = `ghp_${'a1B2'.repeat(9)}`;
  const { out: fixed } = await cli(place, ['rules', '--deny', `bash(curl -u ${token} *)`]);
  expect(fixed).toMatch(/config +deny +bash\(curl -u .* \*\)/);
  expect(fixed).not.toContain(token);
  await cli(place, ['tools', 'disable', 'grep']);
  expect((await cli(place, ['tools'])).out).toContain('○ grep');
  expect((await cli(place, ['explain', 'read_file', '.env'])).code).toBe(3);
});

test('a tool that the configuration keeps off is not said to be on', async () => {
  using place = createCliFixture(PATH, { '.toolwright/config.json': '{"disabledTools": ["bash"]}' });
  const on = await cli(place, ['tools', 'enable', 'bash']);
  const said = '✗ bash is switched off in the configuration (disabledTools): change it there.\n';
  expect(on).toEqual({ code: 1, out: '', err: said });
  expect(await cli(place, ['tools', 'schema', 'bash'])).toMatchObject({ code: 3, err: said });
  expect((await cli(place, ['tools', 'disable', 'bash'])).code).toBe(0);
  expect((await cli(place, ['tools', 'enable', 'web_fetch'])).out).toBe('web_fetch is enabled.\n');
});

test('tokens of people are listed and revoked, and the token itself is shown once', async () => {
  using place = createCliFixture(PATH);
  expect((await cli(place, ['token', 'list'])).out).toBe('None.\n');
  const token = (await cli(place, ['token', 'ana', '--role', 'viewer', '--session', 's1'])).out.trim();
  const { out } = await cli(place, ['token', 'list', '--json']);
  expect(JSON.parse(out)).toEqual({ name: 'ana', role: 'viewer', sessions: ['s1'] });
  expect(out).not.toContain(token);
  expect(await cli(place, ['token', 'revoke', 'bob'])).toMatchObject({ code: 1, err: expect.stringContaining('bob') });
  expect((await cli(place, ['token', 'revoke', 'ana'])).out).toBe('The token of ana is revoked.\n');
  expect((await cli(place, ['token', 'list'])).out).toBe('None.\n');
  expect(await cli(place, ['token', 'ana'])).toMatchObject({
    code: 2,
    err: expect.stringContaining('--role is missing'),
  });
});

test('a record that cannot be written says what every command takes', async () => {
  using place = createCliFixture(PATH);
  const nowhere = { XDG_STATE_HOME: '/dev/null' };
  for (const words of [['tools'], ['call', 'read_file', '--path', 'a'], ['token', 'ann', '--role', 'viewer']]) {
    const { code, err } = await cli(place, words, { env: nowhere });
    expect([words, code, err]).toEqual([words, 4, expect.stringContaining('another folder: TOOLWRIGHT_STATE_DIR=/')]);
    expect(err).not.toContain('--set');
  }
  const zh = await cli(place, ['tools'], { env: { ...nowhere, LANG: 'zh_CN.UTF-8' } });
  expect(zh.err).toContain('或指定别的目录：TOOLWRIGHT_STATE_DIR=/folder。');
});

test('init writes a file with every setting as a comment, which loads, and never overwrites it', async () => {
  using place = createCliFixture(PATH);
  expect((await cli(place, ['init'])).out).toContain('config.json');
  const text = readFileSync(join(place.top, 'config/toolwright/config.json'), 'utf8');
  expect(text).toContain('// "commandTimeout": 120,');
  expect((await cli(place, ['init'])).out).toContain('already exists');
  const nowhere = { env: { XDG_CONFIG_HOME: '/dev/null', LANG: 'zh_CN.UTF-8' } };
  expect((await cli(place, ['init'], nowhere)).err).toContain('或把 XDG_CONFIG_HOME 设为别的目录');
  expect((await cli(place, ['tools'])).code).toBe(0);
});

test('doctor tries what is needed and says how to repair the rest', async () => {
  using place = createCliFixture(PATH);
  const { out, code } = await cli(place, ['doctor']);
  expect(code).toBe(0);
  for (const what of ['✓ node', '✓ sandbox bubblewrap', '✓ ripgrep', '! model', '✓ record'])
    expect(out).toContain(what);
});
