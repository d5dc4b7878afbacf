import { ToolError } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { nearest } from '../../kernel/text/nearest.ts';
import type { ToolCategory } from '../../kernel/tool/category.ts';
import { namedTool, type Tool, type ToolSource } from '../../kernel/tool/tool.ts';
import { toOpenAIFunction } from '../../schema/formats.ts';
import { fromPlainTool, isPlainTool, type PlainTool } from './plain-tool.ts';
import { findInToolset, listToolset, type Toolset } from './toolsets.ts';

/** A tool written in any way: `defineTool`, a BaseTool, or the plain object of spec E. */
export type AnyTool = Tool | (ToolSource & { readonly name: string; readonly description: string }) | PlainTool;

interface RegistryEntry {
  /** The tool as registered, returned by `get`. */
  given: AnyTool;
  /** The tool that runs. */
  tool: Tool;
  enabled: boolean;
  /** For people: built-in, custom, or the server that offers it. */
  source: string;
}

export interface RegisterOptions {
  replace?: boolean;
  source?: string;
}

/** All tools by name. A Map, so `constructor` and `__proto__` are unknown tools. */
export class ToolRegistry {
  static #shared: ToolRegistry | undefined;

  /** Returns the registry of the process; `new ToolRegistry()` creates a separate one. */
  static shared(): ToolRegistry {
    ToolRegistry.#shared ??= new ToolRegistry();
    return ToolRegistry.#shared;
  }

  /** Drops the registry of the process; the next `shared()` is empty. */
  static reset(): void {
    ToolRegistry.#shared = undefined;
  }

  readonly #entries = new Map<string, RegistryEntry>();
  readonly #aliases = new Map<string, string>();
  readonly #toolsets = new Map<string, Toolset>();
  readonly #listeners = new Set<() => void>();

  /** Calls `listener` after every change of the offered tools. Returns a function that stops it. */
  onChange(listener: () => void): () => void {
    const entry = () => listener();
    this.#listeners.add(entry);
    return () => this.#listeners.delete(entry);
  }

  register(given: AnyTool, { replace = false, source = 'custom' }: RegisterOptions = {}): void {
    const tool = compile(given);
    if (!replace && (this.#entries.has(tool.name) || this.#aliases.has(tool.name))) {
      const message = `A tool named '${tool.name}' is already registered. Rename one, or register with { replace: true }.`;
      throw new ToolError(tool.name, message, { code: 'CONFLICT' });
    }
    const enabled = this.#entries.get(tool.name)?.enabled ?? true;
    this.#entries.set(tool.name, { given, tool, enabled, source });
    this.#changed();
  }

  /** Registers all or none: a name that is taken leaves the registry as it was. */
  registerMany(tools: readonly AnyTool[], options: { source?: string } = {}): void {
    const before = new Map(this.#entries);
    try {
      for (const tool of tools) this.register(tool, options);
    } catch (error) {
      this.#entries.clear();
      for (const [name, entry] of before) this.#entries.set(name, entry);
      throw error;
    }
  }

  get(name: string): AnyTool | undefined {
    return this.#entry(name)?.given;
  }

  getOrRaise(name: string): AnyTool {
    const entry = this.#entry(name);
    if (entry !== undefined) return entry.given;
    const suggestions = nearest(name, this.#listedNames());
    const hint = suggestions.length > 0 ? ` Did you mean ${suggestions.join(' or ')}?` : '';
    throw new ToolError(name, `Tool '${name}' not found.${hint}`, { code: 'UNKNOWN_TOOL', details: { suggestions } });
  }

  exists(name: string): boolean {
    return this.#entry(name) !== undefined;
  }

  /** Removes a tool by its own name, with its aliases. */
  deregister(name: string): boolean {
    for (const [alias, target] of this.#aliases) if (target === name) this.#aliases.delete(alias);
    const removed = this.#entries.delete(name);
    if (removed) this.#changed();
    return removed;
  }

  count(): number {
    return this.#listed().length;
  }

  /** All tools in the order of registration, enabled or not. */
  listAll(): AnyTool[] {
    return this.#listed().map(({ given }) => given);
  }

  /** All tools as they run, with state and source, in the order of registration. */
  describeAll(): { tool: Tool; enabled: boolean; source: string }[] {
    return this.#listed().map(({ tool, enabled, source }) => ({ tool, enabled, source }));
  }

  list(): AnyTool[] {
    return this.listAll();
  }

  /** Sorted. */
  listNames(): string[] {
    return this.#listedNames().sort();
  }

  listByCategory(category: ToolCategory): AnyTool[] {
    return this.#listed()
      .filter(({ tool }) => tool.category === category)
      .map(({ given }) => given);
  }

  clear(): void {
    this.#entries.clear();
    this.#aliases.clear();
    this.#changed();
  }

  /** Takes effect on the next call and in the next schema list. Returns false for an unknown tool. */
  enable(name: string): boolean {
    return this.#switch(name, true);
  }

  disable(name: string): boolean {
    return this.#switch(name, false);
  }

  isEnabled(name: string): boolean {
    return this.#entry(name)?.enabled ?? false;
  }

  /** Adds another name for a tool. Records and events always carry the canonical name. */
  alias(alias: string, name: string): void {
    const { name: target } = compile(this.getOrRaise(name));
    if (this.#entries.has(alias) || (this.#aliases.get(alias) ?? target) !== target) {
      throw new ToolError(alias, `'${alias}' already names a tool.`, { code: 'CONFLICT' });
    }
    namedTool({ name: alias, description: alias });
    this.#aliases.set(alias, target);
  }

  addToolset(toolset: Toolset): void {
    if (this.#toolsets.has(toolset.name)) {
      throw new ToolError(toolset.name, `A toolset named '${toolset.name}' already exists.`, { code: 'CONFLICT' });
    }
    this.#toolsets.set(toolset.name, toolset);
  }

  listToolsets(): string[] {
    return [...this.#toolsets.keys()].sort();
  }

  /** Finds the tool to run by name or alias, or by the names of a toolset if one is given. */
  find(name: string, toolset?: string): Result<Tool> {
    if (toolset !== undefined) {
      const view = this.#toolset(toolset);
      return findInToolset(view, name, (tool) => this.find(tool)) ?? unknownTool(name, Object.keys(view.tools));
    }
    const entry = this.#entry(name);
    if (entry === undefined) return unknownTool(name, [...this.#listedNames(), ...this.#aliases.keys()]);
    if (entry.enabled) return ok(entry.tool);
    return fail('TOOL_DISABLED', `${name} is switched off. Use another tool, or ask an administrator to switch it on.`);
  }

  /** The tools offered to a model: enabled ones in the order of registration, or those of a toolset under its names. */
  offered(toolset?: string): Tool[] {
    if (toolset !== undefined) {
      return listToolset(this.#toolset(toolset), (tool) => this.find(tool)).map(({ as, tool }) => ({
        ...tool,
        name: as,
      }));
    }
    return this.#listed()
      .filter(({ enabled }) => enabled)
      .map(({ tool }) => tool);
  }

  /** The tool that keeps pending changes, which only the runtime calls. */
  madeByRuntime(): Tool | undefined {
    return [...this.#entries.values()].find(({ tool }) => tool.madeBy === 'runtime')?.tool;
  }

  toOpenAIFunctions() {
    return this.offered().map(toOpenAIFunction);
  }

  /** All tools but those that only the runtime uses. */
  #listed(): RegistryEntry[] {
    return [...this.#entries.values()].filter(({ tool }) => tool.madeBy === undefined);
  }

  #listedNames(): string[] {
    return this.#listed().map(({ tool }) => tool.name);
  }

  #entry(name: string): RegistryEntry | undefined {
    return this.#entries.get(name) ?? this.#entries.get(this.#aliases.get(name) ?? '');
  }

  #switch(name: string, enabled: boolean): boolean {
    const entry = this.#entry(name);
    if (entry === undefined) return false;
    const changes = entry.enabled !== enabled;
    entry.enabled = enabled;
    if (changes) this.#changed();
    return true;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #toolset(name: string): Toolset {
    const toolset = this.#toolsets.get(name);
    if (toolset !== undefined) return toolset;
    const known = this.listToolsets().join(', ') || 'none are defined';
    throw new ToolError(name, `There is no toolset '${name}'. Known: ${known}.`, { code: 'NOT_CONFIGURED' });
  }
}

function unknownTool(name: string, names: readonly string[]): Result<never> {
  return fail('UNKNOWN_TOOL', `Unknown tool: ${name}`, { suggestions: nearest(name, names) });
}

function compile(given: AnyTool): Tool {
  if (typeof given !== 'object' || given === null) {
    throw new ToolError(String(given), 'A tool is an object: use defineTool or extend BaseTool.', {
      code: 'INVALID_INPUT',
    });
  }
  if ('toTool' in given) return given.toTool();
  if (isPlainTool(given)) return fromPlainTool(given);
  if (typeof given.run === 'function' && typeof given.input?.check === 'function') return namedTool(given);
  const message = 'It has neither run and input (defineTool) nor execute and inputSchema (plain object).';
  throw new ToolError(String(given.name), message, { code: 'INVALID_INPUT' });
}
