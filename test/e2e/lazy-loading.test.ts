import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { toJsonSchema } from '../../src/schema/formats.ts';
import { modelServer } from '../../src/testing/model-server.ts';
import { anthropicReply } from '../../src/testing/wire-turn.ts';
import { builtInTools } from '../../src/tools/index.ts';

const CLI = join(import.meta.dirname, '..', '..', 'dist/cli.js');
const folder = mkdtempSync(join(tmpdir(), 'toolwright-loading-'));
const workspace = join(folder, 'workspace');
mkdirSync(workspace);
writeFileSync(join(workspace, 'a.txt'), 'hello');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const places = { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), XDG_CONFIG_HOME: join(folder, 'config') };
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, [CLI, ...args], {
    cwd: workspace,
    env: { PATH: process.env.PATH, ...places, ...env },
  });

/** How many files of the providers' libraries the command loaded. Node's record of what ran names every file. */
async function librariesLoadedBy(args: readonly string[], more: Record<string, string> = {}): Promise<number> {
  const record = mkdtempSync(join(folder, 'ran-'));
  await run(args, { NODE_V8_COVERAGE: record, ...more });
  const [first = ''] = readdirSync(record);
  const { result } = JSON.parse(readFileSync(join(record, first), 'utf8')) as { result: { url: string }[] };
  const files = result.filter(({ url }) => url.startsWith('file:')).map(({ url }) => fileURLToPath(url));
  expect(files).toContain(CLI);
  return files.filter((file) => /x-stainless/i.test(readFileSync(file, 'utf8'))).length;
}

test.each([[['--version']], [['--help']], [['call', 'read_file', '--path', 'a.txt']]])(
  'the built command line loads no library of a model provider for %j',
  async (args) => {
    expect(await librariesLoadedBy(args, { ANTHROPIC_API_KEY: 'k', OPENAI_API_KEY: 'k' })).toBe(0);
  },
);

test('it loads the one of the provider that is asked', async () => {
  await using server = await modelServer([anthropicReply({ text: 'Done.' })]);
  const env = { TOOLWRIGHT_PROVIDER: 'anthropic', TOOLWRIGHT_MODEL_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k' };
  expect(await librariesLoadedBy(['run', 'Go'], env)).toBe(1);
});

test('what it converts only when used is the same as what every source promises', async () => {
  const { stdout } = await run(['tools', 'schema', '--format', 'json-schema']);
  const expected = builtInTools.filter(({ madeBy }) => madeBy === undefined).map((tool) => toJsonSchema(tool));
  expect(JSON.parse(stdout)).toEqual(JSON.parse(JSON.stringify(expected)));
});
