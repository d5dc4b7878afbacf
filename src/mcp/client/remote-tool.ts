import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { ToolCategory } from '../../kernel/tool/category.ts';
import type { InputSchema, JsonSchema } from '../../kernel/tool/input-schema.ts';
import type { Attachment, OwnReason, Tool } from '../../kernel/tool/tool.ts';
import { visible } from '../../kernel/visible.ts';
import type { RemoteServer } from './remote-server.ts';
import { toolName } from './tool-name.ts';
import { fingerprintOf, type ToolPins } from './tool-pins.ts';

export interface RemoteToolParts {
  readonly server: Pick<RemoteServer, 'name' | 'call'>;
  readonly pins: ToolPins;
  /** Makes our validator of a foreign schema. */
  toInput(json: JsonSchema): InputSchema;
}

/**
 * A server's tool as one of ours. What it touches nobody knows, and what it says of itself nobody has checked: so it
 * asks, runs alone and never twice, unless a rule of the user says otherwise. Throws for a schema that cannot be shown.
 */
export function remoteTool(listed: ListedTool, { server, pins, toInput }: RemoteToolParts): Tool {
  const inputJson = schemaToShow(listed.inputSchema);
  const name = toolName(server.name, listed.name);
  const shownName = onOneLine(listed.name).slice(0, LONGEST_NAME);
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
    summary: () => `${shownName} of the MCP server ${server.name}`,
    approval: () => changeSince(pins.known(server.name)?.get(listed.name)),
    async run(input, ctx) {
      // Nobody but a person lets one run that is not as it was, and their yes is bound to this version.
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
      `${shownName} ${what} the MCP server ${server.name} since you agreed to its tools. ` +
      `It now says of itself: "${said}"`;
    return { reason, always: true };
  }
}

const LONGEST_DESCRIPTION = 4000;
const LONGEST_NAME = 100;

/** A server's words among ours: a line of its own would pass for one of ours. */
function onOneLine(text: string): string {
  return visible(text).replace(/\s+/g, ' ');
}

/** A model reads it as said by a server, and nothing in it that a person would not see. */
function describe(server: string, listed: ListedTool): string {
  return `(MCP server ${server}) ${visible(wordsOf(listed)).slice(0, LONGEST_DESCRIPTION)}`;
}

function wordsOf({ description, title }: ListedTool): string {
  return description ?? title ?? 'It does not say what it does.';
}

/**
 * The model reads all of a schema. Words in it are made visible; the names and values that it allows cannot be changed
 * without changing what it means.
 */
function schemaToShow(schema: unknown): JsonSchema {
  const shown = withVisibleWords(schema);
  const json = JSON.stringify(shown);
  if (json.length > LONGEST_SCHEMA) throw new Error(`its schema has more than ${LONGEST_SCHEMA} characters`);
  if (HIDDEN.test(json)) throw new Error('its schema has names or values with characters that nobody sees');
  return shown as JsonSchema;
}

const LONGEST_SCHEMA = 100_000;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

function withVisibleWords(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withVisibleWords);
  if (typeof schema !== 'object' || schema === null) return schema;
  const fields = Object.entries(schema).map(([key, value]): [string, unknown] => {
    const isWords = typeof value === 'string' && WORDS.has(key);
    return [key, isWords ? visible(value).slice(0, LONGEST_DESCRIPTION) : withVisibleWords(value)];
  });
  return Object.fromEntries(fields);
}

const WORDS: ReadonlySet<string> = new Set(['title', 'description', '$comment']);
