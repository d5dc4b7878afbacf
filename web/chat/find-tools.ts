import type { ToolView } from '../../src/protocol/tools.ts';

/** Returns the tools whose name contains the text after `/`; none for other text, such as a path. */
export function findTools(text: string, tools: readonly ToolView[]): readonly ToolView[] {
  if (!text.startsWith('/')) return [];
  const typed = text.slice(1).trim().toLowerCase();
  return tools.filter(({ name }) => name.toLowerCase().includes(typed));
}
