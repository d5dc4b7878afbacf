import { Writable } from 'node:stream';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { hideInLog } from '../../secrets/hide-in-logs.ts';
import { EchoTool, readTool } from '../../testing/sample-tools.ts';
import { createToolwright } from '../create-toolwright.ts';

/** A toolwright that logs at this level, and the lines it wrote. */
function logging(level: string) {
  const lines: { level: number; msg: string; params?: unknown }[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  const logger = pino({ level }, stream);
  return { lines, ...createToolwright({ tools: [readTool(), new EchoTool()], logger }) };
}

const [DEBUG, INFO, WARN] = [20, 30, 40];

describe('logging', () => {
  test('[B61] [B63] start and success are told', async () => {
    const { lines, call } = logging('info');
    await call('Read', { file_path: '/home/user/test.txt' });
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [INFO, 'Executing tool: Read'],
      [INFO, 'Tool Read succeeded'],
    ]);
  });

  test('[B62] parameters are told at debug level, without secrets', async () => {
    const { lines, call } = logging('debug');
    await call('Read', { file_path: '/home/user/test.txt', password: 'hunter2' });
    const [line] = lines.filter(({ level }) => level === DEBUG);
    expect(line?.params).toEqual({ file_path: '/home/user/test.txt', password: '[redacted]' });
  });

  test('[B64] a failure is a warning with the error', async () => {
    const { lines, call } = logging('info');
    await call('Read', {});
    expect(lines.at(-1)).toMatchObject({ level: WARN, msg: 'Tool Read failed: Missing required parameter: file_path' });
  });

  test('a long message is cut: what a command printed is not for the log', async () => {
    const { lines, call } = logging('info');
    await call('y'.repeat(10_000), {});
    expect(lines.at(-1)?.msg.length).toBeLessThan(11_000);
    expect(lines.at(-1)?.msg).toMatch(/failed: Unknown tool: y{486} …$/);
  });

  test('an unknown tool is a warning too', async () => {
    const { lines, call } = logging('info');
    await call('Nope', {});
    expect(lines).toMatchObject([{ level: WARN, msg: 'Tool Nope failed: Unknown tool: Nope' }]);
  });

  test('a library is silent unless it is given a logger', async () => {
    const written: unknown[] = [];
    const { write } = process.stdout;
    process.stdout.write = ((text: unknown) => written.push(text) > 0) as typeof write;
    try {
      await createToolwright({ tools: [new EchoTool()] }).call('Echo', { message: 'x' });
    } finally {
      process.stdout.write = write;
    }
    expect(written).toEqual([]);
  });
});

describe('redact', () => {
  test.each([
    'password',
    'passwd',
    'api_key',
    'apiKey',
    'X-Api-Key',
    'Authorization',
    'client_secret',
    'access_token',
    'Set-Cookie',
    'privateKey',
    'credentials',
  ])('hides what stands under %s, at any depth', (key) => {
    expect(hideInLog({ deep: [{ [key]: 'plain words' }] })).toEqual({ deep: [{ [key]: '[redacted]' }] });
  });

  test.each([
    `sk-ant-${'a1B2'.repeat(8)}`,
    `ghp_${'a1B2'.repeat(9)}`,
    'AKIAIOSFODNN7EXAMPLE',
    `eyJhbGciOiJIUzI1NiJ9.${'eyJzdWIiOiIxIn0'}.${'abcDEF123'}`,
    'Bearer abcdef123456',
    '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----',
  ])('hides what looks like a secret wherever it stands: %s', (secret) => {
    const shown = JSON.stringify(hideInLog({ note: `before ${secret} after` }));
    expect(shown).toContain('before [redacted] after');
    expect(shown).not.toContain(secret.slice(0, 20));
  });

  test('hides the password in a URL and leaves the rest', () => {
    expect(hideInLog('postgres://ana:s3cret@db:5432/x')).toBe('postgres://ana:[redacted]@db:5432/x');
  });

  test('leaves ordinary words and tokens counts alone', () => {
    const plain = { path: 'src/token-list.ts', max_tokens: 100, text: 'the secret of sk-8 boards' };
    expect(hideInLog(plain)).toEqual(plain);
  });

  test('survives circles and odd values', () => {
    const circle: Record<string, unknown> = { n: 1n, u: undefined };
    circle.self = circle;
    expect(JSON.stringify(hideInLog(circle))).toContain('[…]');
  });
});
