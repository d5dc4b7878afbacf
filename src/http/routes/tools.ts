import { fail, ok, type Result } from '../../kernel/result.ts';
import { SCHEMA_FORMATS, type SchemaFormat } from '../../schema/formats.ts';
import type { Backend } from '../backend.ts';
import { type Handlers, json } from '../handler.ts';
import { failureResponse, refuse } from '../problem.ts';
import { firstWorkspace, workspacesFor } from '../session-lookup.ts';
import { toolView } from '../views.ts';

type ToolHandlers = Pick<
  Handlers,
  'listTools' | 'getTool' | 'switchTool' | 'listSchemas' | 'listRules' | 'saveRule' | 'removeRule'
>;

export function toolRoutes(backend: Backend): ToolHandlers {
  const { settings } = backend;
  const { registry, executor } = firstWorkspace(backend);

  function find(name: string): Result<ReturnType<typeof registry.describeAll>[number]> {
    const found = registry.describeAll().find(({ tool }) => tool.name === name);
    return found === undefined ? fail('UNKNOWN_TOOL', `Unknown tool ${name}: GET /v1/tools lists all.`) : ok(found);
  }

  return {
    listTools({ query }) {
      const all = registry.describeAll().map(toolView);
      const { category } = query;
      return json({ items: category === undefined ? all : all.filter((tool) => tool.category === category) });
    },

    getTool({ params }) {
      const found = find(params.name ?? '');
      if (!found.ok) return failureResponse(found.error);
      const { tool } = found.value;
      return json({ ...toolView(found.value), inputSchema: tool.input.json, outputSchema: tool.outputJson ?? null });
    },

    async switchTool({ params, body, who }) {
      const found = find(params.name ?? '');
      if (!found.ok) return failureResponse(found.error);
      const switched = await settings.switchTool(found.value.tool.name, body.enabled, who.name);
      if (!switched.ok) return failureResponse(switched.error);
      return json({ ...toolView(found.value), enabled: body.enabled });
    },

    listSchemas({ query }) {
      const { format, category } = query;
      if (!Object.hasOwn(SCHEMA_FORMATS, format)) {
        return refuse('INVALID_INPUT', `There is no format ${format}: use ${Object.keys(SCHEMA_FORMATS).join(', ')}.`);
      }
      const convert = SCHEMA_FORMATS[format as SchemaFormat];
      const tools = executor.offered().filter((tool) => category === undefined || tool.category === category);
      return json({ format, items: tools.map((tool) => convert(tool)) });
    },

    async listRules({ who }) {
      const theirs = await workspacesFor(backend, who);
      const rules = await settings.rules();
      const isTheirs = (workspace: string | null) => workspace === null || theirs.has(workspace);
      return json({ items: who.sessions === null ? rules : rules.filter((rule) => isTheirs(rule.workspace)) });
    },

    async saveRule({ body, who }) {
      const saved = await settings.saveRule(body, who.name);
      return saved.ok ? json(saved.value, 201) : failureResponse(saved.error);
    },

    async removeRule({ params, who }) {
      const removed = await settings.removeRule(params.id ?? '', who.name);
      return removed ? new Response(null, { status: 204 }) : refuse('NOT_FOUND', 'Unknown rule.');
    },
  };
}
