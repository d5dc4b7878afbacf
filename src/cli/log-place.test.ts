import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logPlace } from './log-place.ts';
import { styleFor } from './style.ts';

test('a person at a terminal reads lines that the terminal does not obey', () => {
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env: {}, cwd: '/', onInterrupt: () => () => {} };
  const log = pino({ level: 'info' }, logPlace({ io, style: styleFor(io) }, 'always').stream);
  log.info({}, 'Tool bash succeeded');
  log.warn({}, 'Tool bash failed: \x1b[2J\nIts output until then:\ny');
  log.error({}, 'A request failed:\nno space');
  expect(String(stderr.read())).toBe(
    '· Tool bash succeeded\n! Tool bash failed: \\x1b[2J\n✗ A request failed:\nno space\n',
  );
});
