/** The kind of thing a tool works on; lists and schemas can be filtered by it. */
export const ToolCategory = {
  FILE: 'file',
  EXECUTION: 'execution',
  WEB: 'web',
  TASK: 'task',
  NOTEBOOK: 'notebook',
  MCP: 'mcp',
  OTHER: 'other',
} as const;

export type ToolCategory = (typeof ToolCategory)[keyof typeof ToolCategory];
