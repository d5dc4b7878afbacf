import { afterAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ok } from '../kernel/result.ts';
import { defineTool } from '../kernel/tool.ts';
import { builtInTools } from '../tools/index.ts';
import { EchoTool } from './sample-tools.ts';
import { tempWorkspace } from './temp-workspace.ts';
import { toolContract } from './tool-contract.ts';

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

describe('the contract holds for every built-in tool', () => {
  for (const tool of builtInTools) for (const { title, run } of toolContract(tool)) test(title, run);
});

describe('the contract holds for the file tools at work', async () => {
  const ws = await tempWorkspace({ files: { 'a.txt': 'one\ntwo\n', 'b.txt': 'b', 'd/c.txt': 'c' } });
  afterAll(() => ws[Symbol.asyncDispose]());
  const samples: Record<string, unknown> = {
    list_directory: { path: '.', recursive: true },
    read_file: { path: 'a.txt' },
    write_file: { path: 'new.txt', content: 'x'.repeat(1000) },
    edit_file: { path: 'a.txt', edits: [{ old: 'one', new: 'ONE' }] },
    apply_patch: { patch: '*** Begin Patch\n*** Add File: p.txt\n+x\n*** End Patch' },
    delete_file: { path: 'd', recursive: true },
    move_file: { from: 'b.txt', to: 'e/b.txt' },
    glob: { pattern: '**/*' },
    grep: { pattern: 'two' },
  };
  for (const tool of builtInTools) {
    const args = samples[tool.name];
    if (args === undefined) continue;
    for (const { title, run } of toolContract(tool, { args, world: ws.workspace })) test(title, run);
  }
});

describe('the contract fails a tool that breaks it', () => {
  const input = z.object({ text: z.string() });
  const broken = defineTool({
    name: 'broken',
    description: 'Bad',
    input,
    summary: () => 'two\nlines',
    run: () => ok('x'),
  });
  const failing = toolContract(broken, { args: { text: 'x' } });

  test.each(['has a description', 'describes every parameter', 'says in one line'])('broken %s', async (promise) => {
    const check = failing.find(({ title }) => title.startsWith(`broken ${promise}`));
    await expect(async () => check?.run()).rejects.toThrow();
  });
});
