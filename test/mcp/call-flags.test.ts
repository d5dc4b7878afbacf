import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { runCli } from '../../src/cli/run-cli.ts';
import { createCliFixture } from '../../src/testing/cli-fixture.ts';
import { rawServer } from './open-servers.ts';

const inputSchema = { type: 'object', properties: { host: { type: 'string' } } };
const annotations = { readOnlyHint: true };

test('a foreign tool that does not say what it takes is given every flag', async () => {
  using place = createCliFixture(process.env['PATH']);
  const result = `({ content: [{ type: 'text', text: JSON.stringify(params.arguments) }] })`;
  const far = rawServer(place.top, { tools: [{ name: 'look', inputSchema: { type: 'object' } }], result });
  const env = { ...place.env, TOOLWRIGHT_MCP_SERVERS: JSON.stringify({ far }), TOOLWRIGHT_ALLOW: 'far__look' };
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end();
  const io = { stdin, stdout, stderr, env, cwd: place.workspace, onInterrupt: () => () => {} };
  expect(await runCli(['call', 'far__look', '--host', 'db1'], io, '1.2.3')).toBe(0);
  expect(String(stdout.read())).toContain('"host":"db1"');
});

test("a foreign tool's own parameter goes before a setting of that name; any other setting needs --set", async () => {
  using place = createCliFixture(process.env['PATH']);
  const called = join(place.top, 'called');
  const result = `(import('node:fs').then((fs) => fs.writeFileSync(${JSON.stringify(called)}, '')), { content: [{ type: 'text', text: params.arguments.host }] })`;
  const far = rawServer(place.top, { tools: [{ name: 'look', inputSchema, annotations }], result });
  const env = {
    ...place.env,
    TOOLWRIGHT_MCP_SERVERS: JSON.stringify({ far }),
    TOOLWRIGHT_ALLOW: 'far__look',
  };
  const call = async (...words: string[]) => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    stdin.end();
    const io = { stdin, stdout, stderr, env, cwd: place.workspace, onInterrupt: () => () => {} };
    const code = await runCli(['call', 'far__look', ...words], io, '1.2.3');
    return [code, String(stdout.read() ?? ''), String(stderr.read() ?? '')];
  };
  const refused = expect.stringContaining('mode is a setting and no parameter of far__look: write --set mode=…');
  expect(await call('--host', 'here', '--mode', 'plan')).toEqual([2, '', refused]);
  expect(await call('--input', '{"host":"here"}', '--mode', 'plan')).toEqual([2, '', refused]);
  expect(existsSync(called)).toBe(false);
  expect(await call('--host', 'here')).toEqual([0, expect.stringContaining('here'), '']);
  expect(existsSync(called)).toBe(true);
});
