import { ok, type Result } from '../../kernel/result.ts';
import type { Tool } from '../../kernel/tool/tool.ts';

/** A named view of a registry: which tools, under which names, with which parameter names. */
export interface Toolset {
  readonly name: string;
  /** Name in this view → the tool, and how its parameters are called here: `{ file: 'path' }`. */
  readonly tools: Readonly<Record<string, string | { tool: string; parameters?: Readonly<Record<string, string>> }>>;
}

/** A tool in a toolset: the same tool under another name, perhaps with other parameter names. */
export interface ToolsetEntry {
  as: string;
  /** Runs under its own name and accepts the parameter names of the toolset. */
  tool: Tool;
}

/** Lists the tools of a toolset that are registered and enabled. */
export function listToolset(toolset: Toolset, find: (name: string) => Result<Tool>): ToolsetEntry[] {
  return Object.keys(toolset.tools).flatMap((as) => {
    const found = findInToolset(toolset, as, find);
    return found?.ok ? [{ as, tool: found.value }] : [];
  });
}

/** Finds the tool behind a name of a toolset, or why it is not available; undefined when the toolset lacks the name. */
export function findInToolset(
  toolset: Toolset,
  as: string,
  find: (name: string) => Result<Tool>,
): Result<Tool> | undefined {
  const entry = Object.hasOwn(toolset.tools, as) ? toolset.tools[as] : undefined;
  if (entry === undefined) return undefined;
  const { tool: name, parameters = {} } = typeof entry === 'string' ? { tool: entry } : entry;
  const found = find(name);
  const shown = new Map(Object.entries(parameters).map(([as, own]) => [own, as]));
  if (!found.ok || shown.size === 0) return found;
  return ok({ ...found.value, input: found.value.input.shownAs(shown) });
}
