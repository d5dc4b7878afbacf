import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createCliFixture } from '../../testing/cli-fixture.ts';
import { runCli } from '../run-cli.ts';

/** A chat without a model, in which these lines are typed. */
async function chat(files: Record<string, string>, typed: readonly string[], env = {}): Promise<string> {
  using place = createCliFixture(process.env.PATH, files);
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  stdin.end(`${typed.join('\n')}\n`);
  let out = '';
  stdout.setEncoding('utf8').on('data', (text) => (out += text));
  const all = { ...place.env, ...env };
  const io = { stdin, stdout, stderr: stdout, env: all, cwd: place.workspace, onInterrupt: () => () => {} };
  await runCli(['chat'], io, '1.2.3');
  return out;
}

test('the output of a call made by hand is shown once, whole, with its indentation', async () => {
  const lines = ['def f():', '    return 1', ...Array.from({ length: 20 }, (_, index) => `x${index} = 1`)];
  const out = await chat({ 'a.py': lines.join('\n') }, ['/bash cat a.py']);
  expect(out).toMatch(/^▸ bash Run cat a\.py$/m);
  expect(out).toMatch(/^ {4}def f\(\):\n {8}return 1$/m);
  expect(out.match(/x19 = 1/g)).toHaveLength(1);
  expect(out).not.toContain('more line');
});

test('a question shows a coloured diff, and its details are sentences and no JSON', async () => {
  const typed = ['/write_file path=a.py content="def f():\\n"', '?', 'n', ''];
  const out = await chat({ 'a.py': 'if x:\n    y = 1\n' }, typed, { FORCE_COLOR: '1' });
  expect(out).toContain('\u001b[31m-    y = 1\u001b[39m');
  expect(out).toContain('\u001b[32m+def f()');
  expect(out).toMatch(/^ +path: a\.py$/m);
  expect(out).toMatch(/^ +fs\.write a\.py$/m);
  expect(out).not.toContain('"kind"');
});
