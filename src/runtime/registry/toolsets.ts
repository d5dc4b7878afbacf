import { ok, type Result } from '../../kernel/result.ts';
import type { Tool } from '../../kernel/tool/tool.ts';

/** A named view of a registry: which tools, under which names, with which parameter names. */
export interface Toolset {
  readonly name: string;
  /** Name in this view → the tool, and how its parameters are called here: `{ file: 'path' }`. */
  readonly tools: Readonly<Record<string, string | { tool: string; parameters?: Readonly<Record<string, string>> }>>;
}

/** A tool as a view shows it: under another name, perhaps with other parameter names, yet the same tool. */
export interface Shown {
  as: string;
  /** Runs under its own name, and accepts the parameters as the view names them. */
  tool: Tool;
}

/** The view's tools that are registered and switched on. */
export function viewOf(toolset: Toolset, find: (name: string) => Result<Tool>): Shown[] {
  return Object.keys(toolset.tools).flatMap((as) => {
    const found = findShown(toolset, as, find);
    return found?.ok ? [{ as, tool: found.value }] : [];
  });
}

/** The tool behind one name of a view, or why there is none; undefined when the view has no such name. */
export function findShown(
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
