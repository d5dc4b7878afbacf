import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { root, runOfficial } from './run-official.ts';

const TSX = join(root, 'node_modules/tsx/dist/cli.mjs');
const LONG = 180_000;

/** How many scenarios each revision scores, so that a suite that ran nothing does not pass. */
const SCORED = { '2025-11-25': 30, '2026-07-28': 37 } as const;

describe('the official conformance suite', () => {
  let url = '';
  const fixture = spawn(process.execPath, [TSX, join(root, 'test/mcp/conformance-server.ts')]);
  beforeAll(async () => {
    url = await new Promise<string>((resolve) => fixture.stdout.once('data', (line) => resolve(String(line).trim())));
  }, LONG);
  afterAll(() => void fixture.kill());

  test.each(Object.entries(SCORED))(
    'our door passes every scenario that %s scores',
    async (revision, scored) => {
      const { code, output } = await runOfficial('conformance', ['server', '--url', url, '--requirements', revision]);
      const [summary = '', unscored = ''] = (output.split('=== SUMMARY ===')[1] ?? '').split('Not scored for');
      const left = new Set([...unscored.matchAll(/[✓✗] (\S+) \(/g)].map(([, name]) => name));
      const results = [...summary.matchAll(/([✓✗]) (\S+): /g)].filter(([, , name]) => !left.has(name));
      expect(results.filter(([, mark]) => mark !== '✓').map(([line]) => line)).toEqual([]);
      expect([results.length, code]).toEqual([scored, 0]);
    },
    LONG,
  );

  const CLIENT = {
    '2025-11-25': ['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'],
    '2026-07-28': [
      'tools_call',
      'request-metadata',
      'sep-2322-client-request-state',
      'http-standard-headers',
      'http-custom-headers',
      'http-invalid-tool-headers',
      'json-schema-ref-no-deref',
    ],
  };
  test.each(Object.entries(CLIENT).flatMap(([revision, names]) => names.map((name) => [name, revision] as const)))(
    'our client passes %s of %s',
    async (scenario, revision) => {
      const command = `${process.execPath} ${TSX} ${join(root, 'test/mcp/conformance-client.ts')}`;
      const args = ['client', '--command', command, '--scenario', scenario, '--spec-version', revision];
      const { code, output } = await runOfficial('conformance', args);
      expect(output).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed/);
      expect(code).toBe(0);
    },
    LONG,
  );
});

describe('the official inspector', () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-inspector-')));
  const workspace = join(folder, 'ws');
  beforeAll(() => {
    mkdirSync(workspace);
    writeFileSync(join(workspace, 'a.txt'), 'hello\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const settings = ['--set', `stateDir=${join(folder, 'state')}`];
  const server = [process.execPath, TSX, join(root, 'src/cli/main.ts'), 'mcp', '-w', workspace, ...settings];
  const inspect = (...args: string[]) => runOfficial('inspector', ['--cli', ...server, ...args, '--format', 'json']);

  test(
    'lists our tools, and finds nothing in their schemas that a model would not take',
    async () => {
      const { code, output } = await inspect('--method', 'tools/list', '--strict');
      expect(code, output).toBe(0);
      expect(output).toContain('"name":"read_file"');
    },
    LONG,
  );

  test(
    'calls a tool, in the older and in the newer revision',
    async () => {
      for (const era of ['legacy', 'modern']) {
        const call = ['--method', 'tools/call', '--tool-name', 'read_file', '--tool-arg', 'path=a.txt'];
        const { code, output } = await inspect(...call, '--protocol-era', era);
        expect(code, output).toBe(0);
        expect(output).toContain('hello');
      }
    },
    LONG,
  );

  test(
    'makes 200 calls, ten at a time, without an error',
    async () => {
      const load = ['--method', 'tools/call', '--load', '--load-requests', '200', '--load-concurrency', '10'];
      const { code, output } = await inspect(...load, '--tool-name', 'read_file', '--tool-arg', 'path=a.txt');
      expect(code, output).toBe(0);
      expect(output).toMatch(/"requests":200,"ok":200,"toolErrors":0,"errors":0/);
    },
    LONG,
  );
});
