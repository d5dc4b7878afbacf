import { isPlainObject } from '../kernel/check-arguments.ts';
import type { Checked, InputSchema, Issue, JsonSchema } from '../kernel/input-schema.ts';
import type { Result } from '../kernel/result.ts';
import type { Tool } from '../kernel/tool.ts';

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
  return Object.entries(toolset.tools).flatMap(([as, entry]) => {
    const { tool: name, parameters = {} } = typeof entry === 'string' ? { tool: entry } : entry;
    const found = find(name);
    return found.ok ? [{ as, tool: withParameters(found.value, new Map(Object.entries(parameters))) }] : [];
  });
}

function withParameters(tool: Tool, ownName: ReadonlyMap<string, string>): Tool {
  return ownName.size === 0 ? tool : { ...tool, input: renamedInput(tool.input, ownName) };
}

function renamedInput(input: InputSchema, ownName: ReadonlyMap<string, string>): InputSchema {
  const shownName = new Map([...ownName].map(([shown, own]) => [own, shown]));
  const shown = (own: string) => shownName.get(own) ?? own;
  const { properties, required } = input.json;
  const json: JsonSchema = {
    ...input.json,
    ...(isPlainObject(properties) && { properties: mapKeys(properties, shown) }),
    ...(Array.isArray(required) && { required: required.map(shown) }),
  };
  return { json, check };

  function check(args: unknown): Checked<unknown> {
    const checked = input.check(isPlainObject(args) ? mapKeys(args, (key) => ownName.get(key) ?? key) : args);
    if (checked.ok) return checked;
    const [first, ...rest] = checked.issues;
    return { ...checked, issues: [renamedIssue(first), ...rest.map(renamedIssue)] };
  }

  /** A model must read of the parameter by the name it was told. */
  function renamedIssue({ path, message }: Issue): Issue {
    const shownPath = path.replace(/^[^.[]+/, shown);
    return { path: shownPath, message: path === '' ? message : message.replace(path, () => shownPath) };
  }
}

function mapKeys(object: Record<string, unknown>, to: (key: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [to(key), value]));
}
