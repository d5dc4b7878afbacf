import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type CliFixture, createCliFixture } from '../testing/cli-fixture.ts';
import { runCli } from './run-cli.ts';

/**
 * Escape sequences for the window title and a colour; the last is a one-character introducer, which JSON does not
 * escape.
 */
const [TITLE, RED, ONE_CHARACTER] = ['\u001b]0;PWNED\u0007', '\u001b[31m', '\u009b31m'];
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about.
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

async function cli(place: CliFixture, argv: readonly string[], { isTerminal = false } = {}) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end('');
  const said = { out: '', err: '' };
  stdout.setEncoding('utf8').on('data', (text) => (said.out += text));
  Object.assign(stderr, { isTTY: isTerminal })
    .setEncoding('utf8')
    .on('data', (text) => (said.err += text));
  const env = { ...place.env, NO_COLOR: '1' };
  const io = { stdin, stdout, stderr, env, cwd: place.workspace, onInterrupt: () => () => {} };
  return { code: await runCli(argv, io, '1.2.3'), ...said };
}

test.each([TITLE, RED, ONE_CHARACTER])('the name of no tool is shown and never obeyed: %j', async (text) => {
  using place = createCliFixture(process.env.PATH);
  const tool = `${text}x`;
  await cli(place, ['call', tool]);
  const [call] = (await cli(place, ['history', '--json'])).out.split('\n').map((line) => JSON.parse(line || 'null'));
  expect(call.tool).toBe(tool);
  for (const argv of [['history'], ['history', '--json'], ['history', '--sessions'], ['replay', call.session]]) {
    const { code, out, err } = await cli(place, argv);
    expect({ argv, code, obeyed: OBEYED.test(out + err) }).toEqual({ argv, code: 0, obeyed: false });
  }
});

test('the path of a file is shown and never obeyed, also where it cannot be undone', async () => {
  using place = createCliFixture(process.env.PATH);
  const written = await cli(place, ['call', 'write_file', '--path', `e${RED}vil.txt`, '--content', 'x', '--json']);
  const { callId } = JSON.parse(written.out);
  const undone = await cli(place, ['undo', callId]);
  const again = await cli(place, ['undo', callId]);
  const [unknown, noSession] = [await cli(place, ['undo', RED]), await cli(place, ['verify', RED])];
  expect([undone.out, undone.code, again.code, unknown.code]).toEqual([
    'Undone: e\\x1b[31mvil.txt restored\n',
    0,
    1,
    1,
  ]);
  for (const { out, err } of [undone, again, unknown, noSession]) expect(out + err).not.toMatch(OBEYED);
  expect(noSession.err).toContain('\\x1b[31m');
});

test('why a call failed is harmless where it is written to a terminal, wherever the result goes', async () => {
  using place = createCliFixture(process.env.PATH);
  const missing = ['call', 'read_file', '--path', `none${RED}`];
  expect((await cli(place, missing, { isTerminal: true })).err).not.toMatch(OBEYED);
});

test('a rule of the workspace is listed and explained as it is written, and never obeyed', async () => {
  using place = createCliFixture(process.env.PATH, {
    '.toolwright/config.json': JSON.stringify({ deny: ['write_file(e\u001bvil.txt)'] }),
  });
  const listed = await cli(place, ['rules']);
  const explained = await cli(place, ['explain', 'write_file', '--path', 'e\u001bvil.txt', '--content', 'x']);
  expect([listed.out, explained.out]).toEqual([expect.stringContaining('\\x1b'), expect.stringContaining('\\x1b')]);
  expect(listed.out + explained.out).not.toMatch(OBEYED);
});
