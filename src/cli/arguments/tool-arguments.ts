import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Cli } from '../cli.ts';

/** As much of a tool's schema as is needed to read flags. */
export interface Schema {
  readonly properties?: Readonly<Record<string, { readonly type?: string | readonly string[] }>>;
}

/**
 * `--path a.txt --limit 5 --recursive` as a tool's arguments. What is no text by the tool's own schema is read as JSON;
 * whether it fits is for the tool to say.
 */
export function toolArguments(words: readonly string[], schema: Schema): Result<Record<string, unknown>> {
  const args: Record<string, unknown> = {};
  for (const { name, value, typed } of readFlags(words, schema)) {
    if (name === undefined)
      return fail('INVALID_INPUT', `'${typed[0]}' is not understood: give parameters as --name value.`);
    const type = schema.properties?.[name]?.type;
    if (value === undefined && type !== 'boolean') return fail('INVALID_INPUT', `--${name} needs a value.`);
    args[name] = value === undefined ? true : readValue(value, type);
  }
  return ok(args);
}

export interface Flag {
  /** Undefined for a word that is no flag. */
  readonly name: string | undefined;
  /** Undefined where none follows. */
  readonly value: string | undefined;
  readonly typed: readonly string[];
}

/** `--name value`, `--name=value`, or `--name` alone where the schema says it is a yes or no. */
export function readFlags(words: readonly string[], schema: Schema): Flag[] {
  const flags: Flag[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    const next = words[index + 1];
    const [, name, given] = /^--([A-Za-z_][\w-]*)(?:=(.*))?$/s.exec(word) ?? [];
    const isAlone = schema.properties?.[name ?? '']?.type === 'boolean' && next?.startsWith('--');
    if (name === undefined || given !== undefined || next === undefined || isAlone) {
      flags.push({ name, value: given, typed: [word] });
    } else {
      flags.push({ name, value: next, typed: [word, next] });
      index++;
    }
  }
  return flags;
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
  const { toolParameters } = await import('../../app/tool-parameters.ts');
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
