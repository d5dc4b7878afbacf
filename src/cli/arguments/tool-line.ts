import type { JsonSchema } from '../../kernel/tool/input-schema.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import { readValue } from './tool-arguments.ts';

/**
 * Reads what a person types after a tool's name. A tool that runs commands gets the line as it stands, unless it begins
 * with JSON, a quote or a parameter's name: `/bash ls -la`.
 */
export function readTypedCall(text: string, tool: Pick<Tool, 'input' | 'patterns'>): Record<string, unknown> {
  const line = text.trim();
  const names = Object.keys((tool.input.json.properties ?? {}) as object);
  const [name = ''] = names;
  const isArranged = /^["'{]/.test(line) || names.some((each) => line.startsWith(`${each}=`));
  const isCommand = tool.patterns === 'commands' && line !== '' && !isArranged;
  return isCommand ? { [name]: line } : readToolLine(line, tool.input.json);
}

/**
 * Reads the arguments a person types after a tool's name: JSON, `key=value`, or plain values for the parameters in
 * their
 * order: `/read_file README.md limit=20`. Quotes keep words together.
 */
export function readToolLine(text: string, schema: JsonSchema): Record<string, unknown> {
  const line = text.trim();
  if (line.startsWith('{')) {
    try {
      return JSON.parse(line) as Record<string, unknown>;
    } catch {
      // Not JSON: its words are taken literally, and the tool reports invalid ones.
    }
  }
  const properties = (schema.properties ?? {}) as Record<string, { type?: unknown }>;
  const names = Object.keys(properties);
  const args: Record<string, unknown> = {};
  for (const word of wordsOf(line)) {
    const [, key = '', value = ''] = /^([\w-]+)=([\s\S]*)$/.exec(word) ?? [];
    const named = key in properties;
    const name = named ? key : names.find((one) => !(one in args));
    if (name !== undefined) args[name] = readValue(named ? value : word, properties[name]?.type);
  }
  return args;
}

function wordsOf(line: string): string[] {
  const found = line.match(/(?:[^\s"']+|"(?:[^"\\]|\\.)*"|'[^']*')+/g) ?? [];
  return found.map((word) =>
    word.replace(/"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, double, single) => unescaped(double ?? single)),
  );
}

function unescaped(text: string): string {
  return text.replace(/\\(["\\])/g, '$1');
}
