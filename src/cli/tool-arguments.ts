import { fail, ok, type Result } from '../kernel/result.ts';

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

function readValue(text: string, type: string | readonly string[] | undefined): unknown {
  if (type === 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
