import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { type CliFixture, createCliFixture } from '../testing/cli-fixture.ts';
import { runCli } from './run-cli.ts';

const TOKEN = `ghp_${'q7Tz9bLw2Kd3'.repeat(3)}`;
const FILES = { '.env': 'A=made-up\n', 'src/token.txt': `${TOKEN}\n`, 'build.sh': 'echo built\n', 'mine.txt': 'x' };

async function cli(place: CliFixture, ...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end();
  const said = { out: '', err: '' };
  stdout.setEncoding('utf8').on('data', (text) => (said.out += text));
  stderr.setEncoding('utf8').on('data', (text) => (said.err += text));
  const env = place.env as Record<string, string>;
  const io = { stdin, stdout, stderr, env, cwd: place.workspace, onInterrupt: () => () => {} };
  return { code: await runCli(argv, io, '1.2.3'), ...said };
}

test('a refusal names the command that frees the path, and that command frees it', async () => {
  using place = createCliFixture(process.env.PATH, FILES);
  for (const [path, command] of [
    ['.env', /toolwright paths no-secret \.env /],
    ['src/token.txt', /toolwright paths no-secret src\/token\.txt /],
  ] as const) {
    const refused = await cli(place, 'call', 'read_file', '--path', path);
    expect(refused.err, path).toMatch(command);
    expect(refused.err).toMatch(/on the page/);
  }
  expect((await cli(place, '--lang', 'zh', 'paths', '--help')).out).toContain('机密');
  const freed = await cli(place, 'paths', 'no-secret', '.env');
  expect(freed).toMatchObject({ code: 0, out: expect.stringMatching(/^[0-9a-f]{16} no-secret +\.env · terminal · 2/) });
  expect((await cli(place, 'call', 'read_file', '--path', '.env')).out).toContain('made-up');
  expect((await cli(place, 'paths', 'list')).out).toBe(freed.out);
  expect((await cli(place, 'paths', 'take-back', '.env')).code).toBe(0);
  expect((await cli(place, 'paths')).out).toContain('None.');
  expect((await cli(place, 'call', 'read_file', '--path', '.env')).err).toContain('cannot be used');
});

test('a decision is recorded with who and when, and taking it back by its id as well', async () => {
  using place = createCliFixture(process.env.PATH, FILES);
  const made = JSON.parse((await cli(place, 'paths', 'free', join(place.workspace, 'src'), '--json')).out);
  expect(made).toMatchObject({ path: 'src', kind: 'commands', by: 'terminal', digest: null });
  await cli(place, 'paths', 'take-back', made.id);
  const exported = (await cli(place, 'history', '--sessions', '--json')).out;
  expect(exported).not.toContain(TOKEN);
  const agreed = JSON.parse((await cli(place, 'paths', 'agree', 'build.sh', '--json')).out);
  expect(agreed.digest).toMatch(/^[0-9a-f]{64}$/);
  writeFileSync(join(place.workspace, 'build.sh'), 'echo another\n');
  const again = JSON.parse((await cli(place, 'paths', 'agree', 'build.sh', '--json')).out);
  expect(again.id).toBe(agreed.id);
  expect(again.digest).not.toBe(agreed.digest);
  expect((await cli(place, 'paths', '--json')).out.trim().split('\n')).toHaveLength(1);
  expect((await cli(place, 'verify')).code).toBe(0);
});

test('a decision that would have no effect is refused, and the message says why', async () => {
  using place = createCliFixture(process.env.PATH, FILES);
  symlinkSync('src/token.txt', join(place.workspace, 'link'));
  const tries: [string[], RegExp][] = [
    [['free', '../x'], /not inside the workspace/],
    [['free', '.'], /not inside the workspace/],
    [['no-secret', 'nowhere'], /nowhere/],
    [['no-secret', 'link'], /symlink to src\/token\.txt/],
    [['agree', 'src'], /is no file/],
    [['no-secret', 'mine.txt', '--sensitive-files', 'mine.txt'], /The configuration keeps mine\.txt from tools/],
    [['take-back', 'build.sh'], /no decision about build\.sh/],
  ];
  for (const [argv, message] of tries) {
    const ran = await cli(place, 'paths', ...argv);
    expect(ran.code, argv.join(' ')).not.toBe(0);
    expect(ran.err).toMatch(message);
  }
  rmSync(join(place.workspace, 'build.sh'));
  expect((await cli(place, 'paths')).out).toContain('None.');
});
