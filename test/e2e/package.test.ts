import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'toolwright-package-'));

beforeAll(async () => {
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(stdout);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--engine-strict'];
  await run('npm', ['install', ...quiet, join(folder, filename)], { cwd: folder });
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function program(source: string): Promise<string> {
  const file = join(folder, 'program.mjs');
  writeFileSync(file, source);
  return (await run(process.execPath, [file], { cwd: folder })).stdout.trim();
}

/** Somebody's folder, which is not where the package is. */
const bin = join(folder, 'node_modules/.bin/toolwright');
const at = { cwd: join(folder, 'work'), env: { PATH: process.env.PATH, HOME: join(folder, 'home') } };
mkdirSync(at.cwd);
writeFileSync(join(at.cwd, 'hello.txt'), 'hello\n');

describe('the package, installed in an empty folder', () => {
  test('runs a tool', async () => {
    const output = await program(`
      import { BaseTool, createToolwright, ToolParameter, ToolResult } from 'toolwright';
      class Echo extends BaseTool {
        name = 'echo';
        description = 'Say it again.';
        parameters = [new ToolParameter({ name: 'text', type: 'string', description: 'What to say' })];
        run({ text }) { return ToolResult.ok(text); }
      }
      const { call } = createToolwright({ tools: [new Echo()] });
      console.log((await call('echo', { text: 'hello' })).output);
    `);
    expect(output).toBe('hello');
  });

  test('does without LangChain and the AI SDK, and says what to install when they are asked for', async () => {
    const output = await program(`
      import { toLangChainTool } from 'toolwright/langchain';
      import { toAiSdkTool } from 'toolwright/ai-sdk';
      import { builtInTools } from 'toolwright';
      for (const convert of [toLangChainTool, toAiSdkTool]) {
        await convert(builtInTools[0]).catch((error) => console.log(error.code, error.message));
      }
    `);
    expect(output.split('\n')).toEqual([
      'NOT_CONFIGURED @langchain/core is not installed. Add it to your project: npm install @langchain/core',
      'NOT_CONFIGURED ai is not installed. Add it to your project: npm install ai',
    ]);
  });

  test('the contract for tools is checked without them', async () => {
    const output = await program(`
      import { builtInTools } from 'toolwright';
      import { toolContract } from 'toolwright/testing';
      for (const { run } of toolContract(builtInTools[0])) await run();
      console.log('kept');
    `);
    expect(output).toBe('kept');
  });

  test('its command line calls a tool, and serves the page', async () => {
    const { stdout } = await run(bin, ['call', 'read_file', '--path', 'hello.txt'], at);
    expect(stdout).toContain('hello');
    const server = spawn(bin, ['start', '--json', '--set', 'port=0'], at);
    const line = await new Promise<string>((done) => server.stdout.setEncoding('utf8').once('data', done));
    const page = await fetch(JSON.parse(line).url);
    expect(await page.text()).toContain('<title>Toolwright');
    server.kill();
    await new Promise((done) => server.once('exit', done));
  }, 60_000);

  test('without the search program for this platform, search says what to do and all else works', async () => {
    const scope = join(folder, 'node_modules/@vscode');
    for (const name of readdirSync(scope).filter((each) => each !== 'ripgrep'))
      rmSync(join(scope, name), { recursive: true });
    const grep = run(bin, ['call', 'grep', '--pattern', 'hello'], at);
    await expect(grep).rejects.toMatchObject({ stderr: expect.stringContaining('install @vscode/ripgrep again') });
    const { stdout } = await run(bin, ['call', 'read_file', '--path', 'hello.txt'], at);
    expect(stdout).toContain('hello');
  }, 60_000);

  test('has types for every entry', () => {
    const { exports } = JSON.parse(readFileSync(join(folder, 'node_modules/toolwright/package.json'), 'utf8'));
    for (const entry of Object.values<{ types?: string }>(exports)) {
      if (entry.types !== undefined) readFileSync(join(folder, 'node_modules/toolwright', entry.types));
    }
    expect(Object.keys(exports)).toEqual([
      '.',
      './langchain',
      './ai-sdk',
      './openai',
      './anthropic',
      './testing',
      './package.json',
    ]);
  });
});
