import { expect, test } from 'vitest';
import * as toolwright from '../../src/index.ts';

test('adding a public export is a decision: it is written down here too', () => {
  expect(Object.keys(toolwright).sort()).toEqual([
    'BaseTool',
    'ERROR_CODES',
    'ExecutionContext',
    'MemoryBlobs',
    'MemoryStore',
    'SCHEMA_FORMATS',
    'StoreError',
    'ToolCategory',
    'ToolError',
    'ToolExecutor',
    'ToolParameter',
    'ToolRegistry',
    'ToolResult',
    'UNKNOWN_ACCESS',
    'allowAll',
    'builtInTools',
    'createToolwright',
    'defineTool',
    'fail',
    'keepUp',
    'ok',
    'openStore',
    'openWorkspace',
    'toAnthropicTool',
    'toJsonSchema',
    'toOpenAIChatTool',
    'toOpenAIFunction',
    'toOpenAIResponsesTool',
  ]);
});
