import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ok } from '../kernel/result.ts';
import { defineTool } from '../kernel/tool/tool.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import { createWeb, withWeb } from '../net/create-web.ts';
import { createProcesses } from '../processes/create-processes.ts';
import { createToolwright } from '../runtime/create-toolwright.ts';
import { MemoryBlobs } from '../runtime/memory/memory-blobs.ts';
import { createStages } from '../stages/create-stages.ts';
import { builtInTools } from '../tools/index.ts';
import { readOutput } from '../tools/output/read-output.ts';
import { EchoTool } from './sample-tools.ts';
import { createStubInternet } from './stub-internet.ts';
import { tempWorkspace } from './temp-workspace.ts';
import { type ToolContractOptions, toolContract } from './tool-contract.ts';
import { trySandbox } from './try-sandbox.ts';

const sample = defineTool({
  name: 'count_words',
  description: 'Count the words of a text.',
  effect: 'pure',
  input: z.object({ text: z.string().describe('The text'), repeat: z.int().min(1).default(1).describe('How often') }),
  output: z.object({ words: z.number() }),
  summary: ({ text }) => `Count the words of ${text.length} characters`,
  access: () => [],
  run: ({ text, repeat }) => ok({ words: text.split(/\s+/).filter(Boolean).length * repeat }),
});

describe('the contract holds for a sample tool, whichever way it was written', () => {
  for (const { title, run } of toolContract(sample, { args: { text: 'one two three' } })) test(title, run);
  for (const { title, run } of toolContract(new EchoTool(), { args: { message: 'x'.repeat(1000) } })) test(title, run);
});

/** Setup of each built-in tool. A tool that is missing here is checked without a run, and the last test fails. */
const blobs = new MemoryBlobs();
const artifact = blobs.put(new TextEncoder().encode('a line\n'.repeat(1000)));
const ws = await tempWorkspace({ files: { 'a.txt': 'one\ntwo\n', 'b.txt': 'b', 'd/c.txt': 'c', 'f/g.txt': 'g' } });
afterAll(() => ws[Symbol.asyncDispose]());
const fileTool = (name: string, args: unknown): [string, ToolContractOptions] => {
  const runtime = { world: ws.workspace, approver: () => ({ approved: true }) };
  return [name, { args, workingDir: ws.root, runtime }];
};
const internet = await createStubInternet((_request, response) => {
  setTimeout(
    () => response.end(JSON.stringify({ results: [{ title: 'a', url: 'https://a.test/', content: 'b' }] })),
    20,
  );
});
afterAll(() => internet[Symbol.asyncDispose]());
const web = createWeb({ dialer: internet.dialer, search: { searxng: { url: 'http://search.test' } } });
const webTool = (name: string, args: unknown): [string, ToolContractOptions] => {
  return [name, { args, workingDir: ws.root, runtime: { world: withWeb(ws.workspace, web) } }];
};
/** Real processes in a real sandbox: one for each tool that needs one of its own. */
const sandbox = trySandbox({ path: '/usr/local/bin:/usr/bin:/bin' });
const processes = createProcesses({
  sandbox: sandbox.sandbox,
  stages: createStages({ sandbox: sandbox.sandbox, policy: createFilePolicy(), home: '/root' }),
});
afterAll(async () => {
  await processes.close();
  await sandbox[Symbol.asyncDispose]();
});
const commandRuntime = { world: processes.addTo(ws.workspace), approver: () => ({ approved: true }) };
const shell = createToolwright({ tools: builtInTools, workingDir: ws.root, ...commandRuntime });
const commandTool = (name: string, args: unknown): [string, ToolContractOptions] => {
  return [name, { args, workingDir: ws.root, runtime: commandRuntime, stopsWithinMs: 10_000 }];
};
async function waiting(): Promise<string> {
  const started = await shell.call('bash', { command: 'cat', background: true });
  return (started.output as { process: { id: string } }).process.id;
}
async function ended(): Promise<string> {
  const id = await waiting();
  await shell.call('process_stop', { id });
  return id;
}
const samples = new Map<string, ToolContractOptions>([
  [readOutput.name, { args: { artifact }, runtime: { blobs } }],
  fileTool('list_directory', { path: '.', recursive: true }),
  fileTool('read_file', { path: 'a.txt' }),
  fileTool('write_file', { path: 'new.txt', content: 'x'.repeat(1000) }),
  fileTool('edit_file', { path: 'a.txt', edits: [{ old: 'one', new: 'ONE' }] }),
  fileTool('apply_patch', { patch: '*** Begin Patch\n*** Update File: a.txt\n two\n+more\n*** End Patch' }),
  fileTool('delete_file', { path: 'd', recursive: true }),
  fileTool('move_file', { from: 'b.txt', to: 'e/b.txt' }),
  fileTool('glob', { pattern: '**/*' }),
  fileTool('grep', { pattern: 'two' }),
  webTool('web_fetch', { url: 'http://pub.test/' }),
  webTool('web_search', { query: 'words' }),
  commandTool('bash', { command: 'ls' }),
  commandTool('run_code', { language: 'python', code: 'print(1)' }),
  commandTool('process_list', {}),
  commandTool('process_output', { id: await waiting() }),
  commandTool('process_input', { id: await waiting(), text: 'hello\n' }),
  commandTool('process_stop', { id: await waiting() }),
  commandTool('process_keep', { id: await ended() }),
]);

describe('the contract holds for every built-in tool', () => {
  // The runtime's own tool runs inside a command only: test/changes/commands.test.ts.
  const offered = builtInTools.filter(({ madeBy }) => madeBy === undefined);
  for (const tool of offered) {
    for (const { title, run } of toolContract(tool, samples.get(tool.name))) test(title, run);
  }
  test('each of them is run', () => {
    expect(offered.map(({ name }) => name).filter((name) => !samples.has(name))).toEqual([]);
  });
});

describe('the contract fails a tool that breaks it', () => {
  const input = z.object({ text: z.string() });
  const broken = defineTool({
    name: 'broken',
    description: 'Bad',
    input,
    output: z.string(),
    summary: () => 'two\nlines',
    preview: () => {
      throw new Error('no preview');
    },
    run: async () => {
      await new Promise((done) => setTimeout(done, 1000));
      return ok('deaf');
    },
  });
  const failing = toolContract(broken, { args: { text: 'x' }, stopsWithinMs: 50 });

  test.each([
    'has a description',
    'describes every parameter',
    'says in one line',
    'honours dryRun',
    'stops its own work',
  ])('broken %s', async (promise) => {
    const check = failing.find(({ title }) => title.startsWith(`broken ${promise}`));
    await expect(async () => check?.run()).rejects.toThrow();
  });
});
