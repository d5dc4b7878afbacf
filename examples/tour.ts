// A tour without a server: the tools, and real calls through the whole pipeline in a workspace.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ApprovalRequest,
  builtInTools,
  createFilePolicy,
  createPolicy,
  createToolwright,
  MemoryBlobs,
  openWorkspace,
  type ToolResult,
} from 'toolwright';
import { countWords } from './tools/count-words.ts';
import { NoteTool } from './tools/note-tool.ts';

const folder = mkdtempSync(join(tmpdir(), 'toolwright-tour-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const root = join(folder, 'workspace');
mkdirSync(join(root, 'src'), { recursive: true });
writeFileSync(join(root, 'src', 'hello.ts'), "export const greeting = 'hello';\r\n// TODO: say more\r\n");
writeFileSync(join(root, 'long.txt'), Array.from({ length: 500 }, (_, n) => `line ${n + 1}\n`).join(''));
writeFileSync(join(root, '.env'), 'API_KEY=do-not-read-me\n');

const blobs = new MemoryBlobs();
const files = createFilePolicy();
const world = await openWorkspace({ root, policy: files, journal: { folder: join(folder, 'journal') } });
const { registry, executor, call } = createToolwright({
  tools: [...builtInTools, countWords, new NoteTool()],
  world,
  blobs,
  sessionId: 'tour',
  maxOutputSize: 400,
  policy: createPolicy({ mode: 'ask', rules: [], files, home: folder }),
  approver: ({ reason, args }: ApprovalRequest) => {
    console.log(`  ? ${reason}`);
    console.log(`    ${JSON.stringify(args).slice(0, 110)}`);
    console.log('    answered for you: yes');
    return { approved: true, by: 'tour' };
  },
});

console.log('Toolwright: one way to run every tool an agent asks for.\n');
console.log('Tools');
for (const tool of registry.listAll()) console.log(`  ${tool.name.padEnd(14)} ${tool.description.split('. ')[0]}`);

console.log('\nCalls');
await show('read a file', 'read_file', { path: 'src/hello.ts' });
await show('search; secrets are left out', 'grep', { pattern: 'TODO|API_KEY' });
await show('a sensitive file is refused, whoever asks', 'read_file', { path: '.env' });
await show('so is everything outside', 'read_file', { path: '../../etc/passwd' });
await show('a new file needs no question', 'write_file', { path: 'docs/notes.md', content: 'Measure twice.\n' });
const edits = [{ old: "'hello'", new: "'hello, world'" }];
const edit = await show('a change asks first, and keeps every other byte', 'edit_file', {
  path: 'src/hello.ts',
  edits,
});
await show('a wrong call: the model reads what to mend', 'read_file', { pth: 7 });
await show('an unknown tool', 'raed_file', {});
const long = await show('long output is cut for the model', 'read_file', { path: 'long.txt' });
const { artifact } = long.metadata;
await show('… and the whole of it is kept', 'read_output', { artifact, offset: 250, limit: 2 });
await show('a tool of your own', 'count_words', { text: 'measure twice, cut once' });

console.log('\nUndo');
const undone = await world.undo(edit.callId ?? '');
console.log(undone.ok ? `  ✓ taken back: ${undone.value.restored.join(', ')}` : `  ✗ ${undone.error.message}`);

console.log('\nOne definition, every format');
const [openai] = executor.getAllSchemas('openai');
const [anthropic] = executor.getAllSchemas('anthropic');
console.log(`  openai     ${JSON.stringify(openai).slice(0, 96)}…`);
console.log(`  anthropic  ${JSON.stringify(anthropic).slice(0, 96)}…`);

console.log('\nHistory');
for (const { toolName, state, durationMs } of executor.getExecutions()) {
  console.log(`  ${toolName.padEnd(14)} ${state.padEnd(10)} ${durationMs.toFixed(2)} ms`);
}
world.close();

async function show(what: string, tool: string, args: unknown): Promise<ToolResult> {
  console.log(`\n  ${what}: ${tool}(${JSON.stringify(args).slice(0, 100)})`);
  const result = await call(tool, args);
  for (const line of result.text.split('\n')) console.log(`  ${result.ok ? '✓' : '✗'} ${line}`);
  return result;
}
