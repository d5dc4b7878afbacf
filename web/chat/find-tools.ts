import type { ToolView } from '../../src/protocol/tools.ts';

/** Tools whose name has what was typed after `/`; none for what is no command, such as a path. */
export function toolsNamed(text: string, tools: readonly ToolView[]): readonly ToolView[] {
  if (!text.startsWith('/')) return [];
  const typed = text.slice(1).trim().toLowerCase();
  return tools.filter(({ name }) => name.toLowerCase().includes(typed));
}
