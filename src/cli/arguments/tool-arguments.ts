import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Cli } from '../cli.ts';

/** The part of a tool's schema that is needed to read flags. */
export interface ParameterSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: string | readonly string[] }>>;
}

/**
 * Reads `--path a.txt --limit 5 --recursive` as a tool's arguments. A value that is not a string by the tool's schema
 * is
 * read as JSON; the tool itself validates it.
 */
export function toolArguments(words: readonly string[], schema: ParameterSchema): Result<Record<string, unknown>> {
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
  /** Undefined for a word that is not a flag. */
  readonly name: string | undefined;
  /** Undefined where no value follows. */
  readonly value: string | undefined;
  readonly typed: readonly string[];
}

/** Reads `--name value`, `--name=value`, or `--name` alone for a boolean parameter. */
export function readFlags(words: readonly string[], schema: ParameterSchema): Flag[] {
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

/** Keeps a string as it is and reads any other declared type as JSON. */
export function readValue(text: string, type: unknown): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Help of a tool as a command, with its parameters as flags. Returns undefined when no tool was named. */
export async function toolHelp(argv: readonly string[], { words, style }: Cli): Promise<string | undefined> {
  const { toolParameters } = await import('../../app/admin/known-tools.ts');
  const tool = argv.find((word) => toolParameters(word) !== undefined);
  if (tool === undefined) return undefined;
  const { properties = {}, required = [] } = toolParameters(tool) as DescribedSchema;
  const flags = Object.entries(properties).map(([name, { type, description = '' }]) => ({
    flag: `  --${name}${type === 'boolean' ? '' : ` <${type ?? 'json'}>`}`,
    about: `${required.includes(name) ? `(${words.required}) ` : ''}${description}`,
  }));
  const width = Math.max(0, ...flags.map(({ flag }) => flag.length)) + 2;
  const lines = flags.map(({ flag, about }) => `${flag.padEnd(width)}${style.line(about, width)}`);
  return [words.toolUsage(tool), '', ...lines, '', words.toolHelpEnd, ''].join('\n');
}

interface DescribedSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown; readonly description?: string }>>;
  readonly required?: readonly string[];
}
