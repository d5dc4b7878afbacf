import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { hasInvisible, invisibleSet } from '../../kernel/text/invisible.ts';
import { visible } from '../../kernel/text/visible.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import type { InputSchema, JsonSchema } from '../../kernel/tool/input-schema.ts';
import type { OwnReason } from '../../kernel/tool/plan.ts';
import type { Attachment, Tool } from '../../kernel/tool/tool.ts';
import type { RemoteServer } from './remote-server.ts';
import { toolName } from './tool-name.ts';
import { fingerprintOf, type ToolPins } from './tool-pins.ts';

export interface RemoteToolOptions {
  readonly server: Pick<RemoteServer, 'name' | 'call'>;
  readonly pins: ToolPins;
  /** Makes our validator of a foreign schema. */
  toInput(json: JsonSchema): InputSchema;
}

/**
 * Wraps a server's tool as one of ours. Its effects are unknown and its description is unchecked, so it needs approval,
 * runs alone and is never retried, unless a rule of the user says otherwise. Throws for a schema that cannot be shown.
 */
export function remoteTool(listed: ListedTool, { server, pins, toInput }: RemoteToolOptions): Tool {
  const inputJson = schemaToShow(listed.inputSchema);
  const name = toolName(server.name, listed.name);
  const shownName = onOneLine(listed.name).slice(0, MAX_NAME_CHARS);
  const fingerprint = fingerprintOf(listed);
  const structured = listed.outputSchema?.['type'] === 'object';
  return {
    name,
    description: describe(server.name, listed),
    category: ToolCategory.MCP,
    effect: 'once',
    version: fingerprint,
    input: toInput(inputJson),
    ...(structured && { outputJson: schemaToShow(listed.outputSchema) }),
    // A tool that says nothing of itself reaches the world outside, as the protocol has it.
    flow: { brings: ['untrusted'], sends: listed.annotations?.openWorldHint !== false },
    summary: () => `${shownName} of the MCP server ${server.name}`,
    approval: () => changeSince(pins.known(server.name)?.get(listed.name)),
    async run(input, ctx) {
      // Only a person may allow a tool that changed, and the approval is bound to this version.
      if (pins.known(server.name)?.get(listed.name) !== fingerprint) {
        pins.keep(server.name, [[listed.name, fingerprint]]);
      }
      return server.call(listed.name, input as Record<string, unknown>, { ctx, structured });
    },
    render: (value) => (typeof value === 'string' ? value : JSON.stringify(value, null, 2)),
    attachments: (_value, metadata) => (metadata['attachments'] ?? []) as readonly Attachment[],
  };

  function changeSince(pinned: string | undefined): OwnReason | undefined {
    if (pinned === fingerprint) return undefined;
    const what = pinned === undefined ? 'is new on' : 'was changed by';
    const said = onOneLine(wordsOf(listed)).slice(0, 500).replaceAll('"', "'");
    const reason =
      `${shownName} ${what} the MCP server ${server.name} since you approved its tools. ` +
      `It now says of itself: "${said}"`;
    return { reason, always: true };
  }
}

const MAX_DESCRIPTION_CHARS = 4000;
const MAX_NAME_CHARS = 100;

/** Puts a server's text on one line, so that no line of it can pass for ours. */
function onOneLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ');
}

/** Marks the description as the server's words, and makes invisible characters visible. */
function describe(server: string, listed: ListedTool): string {
  return `(MCP server ${server}) ${visible(wordsOf(listed)).slice(0, MAX_DESCRIPTION_CHARS)}`;
}

function wordsOf({ description, title }: ListedTool): string {
  return description ?? title ?? 'No description.';
}

/**
 * The model reads the whole schema. Texts in it are made visible; allowed names and values cannot be changed without
 * changing the meaning of the schema.
 */
function schemaToShow(schema: unknown): JsonSchema {
  const shown = withVisibleText(schema);
  const json = JSON.stringify(shown);
  if (json.length > MAX_SCHEMA_CHARS) throw new Error(`its schema has more than ${MAX_SCHEMA_CHARS} characters`);
  if (hasInvisible(json, HIDDEN)) throw new Error('its schema has names or values with invisible characters');
  return shown as JsonSchema;
}

const MAX_SCHEMA_CHARS = 100_000;
/** Variation selectors of the basic plane may stand in it: emoji need them. */
const HIDDEN = invisibleSet(['control', 'format', 'separator', 'tag', 'noncharacter']);

function withVisibleText(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withVisibleText);
  if (typeof schema !== 'object' || schema === null) return schema;
  const fields = Object.entries(schema).map(([key, value]): [string, unknown] => {
    const isWords = typeof value === 'string' && TEXT_KEYWORDS.has(key);
    return [key, isWords ? visible(value).slice(0, MAX_DESCRIPTION_CHARS) : withVisibleText(value)];
  });
  return Object.fromEntries(fields);
}

const TEXT_KEYWORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment']);
