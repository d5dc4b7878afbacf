import { PassThrough } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logOutput } from './log-output.ts';
import { styleFor } from './text/style.ts';

test('a person at a terminal reads lines that the terminal does not obey', () => {
  const { log, stderr } = terminal({ NO_COLOR: '1' });
  log.info({}, 'Tool bash succeeded');
  log.warn({}, 'Tool bash failed: \x1b[2J\nIts output until then:\ny');
  log.error({}, 'A request failed:\nno space');
  expect(String(stderr.read())).toBe(
    '· Tool bash succeeded\n! Tool bash failed: \\x1b[2J\n✗ A request failed:\nno space\n',
  );
});

test('a line of the log takes the place of a bar that stands in the line', () => {
  const { log, stderr } = terminal({});
  stderr.write('Opening [#---]');
  log.warn({}, 'slow');
  const written = String(stderr.read());
  expect(written).toContain('[#---]\r\x1b[2K');
  expect(written).toContain('slow\n');
});

function terminal(env: Record<string, string>) {
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const io = { stdin, stdout, stderr, env, cwd: '/', onInterrupt: () => () => {} };
  return { stderr, log: pino({ level: 'info' }, logOutput({ io, style: styleFor(io) }, 'always').stream) };
}
