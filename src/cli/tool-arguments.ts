import { fail, ok, type Result } from '../kernel/result.ts';
import type { Cli } from './cli.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string | readonly string[] }>>;
}

/**
 * `--path a.txt --limit 5 --recursive` as a tool's arguments. What is no text by the tool's own schema is read as JSON;
 * whether it fits is for the tool to say.
 */
export function toolArguments(words: readonly string[], schema: Schema): Result<Record<string, unknown>> {
  const args: Record<string, unknown> = {};
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const [, name, given] = /^--([A-Za-z_][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    if (name === undefined)
      return fail('INVALID_INPUT', `'${word}' is not understood: give parameters as --name value.`);
    const type = schema.properties?.[name]?.type;
    const next = words[index + 1];
    if (given !== undefined) args[name] = readValue(given, type);
    else if (type === 'boolean' && (next === undefined || next.startsWith('--'))) args[name] = true;
    else if (next === undefined) return fail('INVALID_INPUT', `--${name} needs a value.`);
    else {
      args[name] = readValue(next, type);
      index++;
    }
  }
  return ok(args);
}

/** A text stays a text; what is declared as something else is read as JSON. */
export function readValue(text: string, type: unknown): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The help of a tool as a command: its own parameters as flags. Undefined when no tool was named. */
export async function toolHelp(argv: readonly string[], { words, style }: Cli): Promise<string | undefined> {
  const { toolParameters } = await import('../app/tool-parameters.ts');
  const tool = argv.find((word) => toolParameters(word) !== undefined);
  if (tool === undefined) return undefined;
  const { properties = {}, required = [] } = toolParameters(tool) as Described;
  const flags = Object.entries(properties).map(([name, { type, description = '' }]) => ({
    flag: `  --${name}${type === 'boolean' ? '' : ` <${type ?? 'json'}>`}`,
    about: `${required.includes(name) ? `(${words.required}) ` : ''}${description}`,
  }));
  const width = Math.max(0, ...flags.map(({ flag }) => flag.length)) + 2;
  const lines = flags.map(({ flag, about }) => `${flag.padEnd(width)}${style.line(about, width)}`);
  return [words.toolUsage(tool), '', ...lines, '', words.toolHelpEnd, ''].join('\n');
}

interface Described {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown; readonly description?: string }>>;
  readonly required?: readonly string[];
}
