import { PassThrough } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { showSpinner } from './spinner.ts';

function screen(env: Record<string, string> = {}, isTTY = true, argv: string[] = []) {
  const stderr = Object.assign(new PassThrough(), { isTTY });
  const written: string[] = [];
  stderr.setEncoding('utf8').on('data', (text) => written.push(text));
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env, cwd: '.', onInterrupt: () => () => {} };
  return { cli: { io, argv }, written };
}

test('long work shows a bar on the error stream and takes it away again', async () => {
  const { cli, written } = screen();
  expect(await showSpinner(cli, 'looking', delay(600, 'done'))).toBe('done');
  expect(written[0]).toMatch(/looking \[-*#-*\]$/);
  expect(written.at(-1)).toBe('\r\x1b[2K');
});

test('work that says how far it is shows that, also when it lets no timer run', async () => {
  const { cli, written } = screen();
  await showSpinner(cli, 'looking', (progress) => {
    const end = performance.now() + 500;
    while (performance.now() < end) progress(1, 4);
  });
  await delay(1);
  expect(written.join('')).toContain('looking [###---------] 25 %');
});

test.each([
  ['short work', () => screen(), 10],
  ['a pipe', () => screen({}, false), 450],
  ['NO_COLOR', () => screen({ NO_COLOR: '1' }), 450],
  ['--json', () => screen({}, true, ['verify', '--json']), 450],
])('%s shows nothing', async (_, make, ms) => {
  const { cli, written } = make();
  await showSpinner(cli, 'looking', delay(ms));
  expect(written).toEqual([]);
});
