import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { ToolExecutor } from '../executor.ts';

const FILES = { 'src/a.py': 'def function_name():\n  pass\n' };

async function inToolset(toolset: string, tool: string, args: Record<string, unknown>) {
  await using ws = await tempWorkspace({ files: FILES });
  const executor = new ToolExecutor(ws.toolwright.registry, { toolset, world: ws.workspace });
  const result = await executor.execute(tool, ws.toolwright.context, args);
  const [record] = executor.getExecutions();
  return { result, canonical: record?.toolName, offered: executor.offered().map(({ name }) => name) };
}

test.each([
  ['essentials', 'read_file', { path: 'src/a.py' }, 'read_file', 'def function_name'],
  ['essentials', 'write_file', { path: 'r/x.md', content: 'x' }, 'write_file', 'Created r/x.md'],
  ['codebase', 'read_tool', { path: 'src/a.py', offset: 2, limit: 1 }, 'read_file', '  pass'],
  ['codebase', 'glob_tool', { pattern: '**/*.py', path: 'src' }, 'glob', 'src/a.py'],
  [
    'codebase',
    'grep_tool',
    { pattern: 'def function_name', include: '*.py' },
    'grep',
    'src/a.py:1: def function_name():',
  ],
  ['workspace', 'read_file', { path: 'src/a.py' }, 'read_file', 'def function_name'],
  ['standard', 'list_directory', { path: 'src', recursive: true, includeHidden: true }, 'list_directory', 'a.py'],
  ['standard', 'move_file', { from: 'src/a.py', to: 'b.py', overwrite: false }, 'move_file', 'Moved src/a.py to b.py'],
])(
  '%s calls %s by its name and parameters; the record has the canonical name',
  async (toolset, tool, args, name, text) => {
    const { result, canonical, offered } = await inToolset(toolset, tool, args);
    expect(result.text).toContain(text);
    expect(canonical).toBe(name);
    expect(offered).toContain(tool);
  },
);

test('a toolset offers nothing but its own tools', async () => {
  const { result, offered } = await inToolset('codebase', 'write_file', { path: 'x', content: 'x' });
  expect(result.error).toMatchObject({ code: 'UNKNOWN_TOOL' });
  expect(offered).toEqual(['read_tool', 'glob_tool', 'grep_tool', 'bash_tool', 'websearch_tool', 'webfetch_tool']);
});
