import { ok, type Result } from '../../kernel/result.ts';
import type { JsonSchema } from '../../kernel/tool/input-schema.ts';
import { toolArguments } from './tool-arguments.ts';
import { readToolLine } from './tool-line.ts';

/**
 * Reads the shell words after a tool's name: values for its parameters in their order, `name=value` or one JSON object, then
 * `--name value`: `bash 'ls -la' --timeout 5`.
 */
export function readTypedWords(words: readonly string[], schema: JsonSchema): Result<Record<string, unknown>> {
  const at = words.findIndex((word) => word.startsWith('--'));
  const values = at === -1 ? words : words.slice(0, at);
  const flags = toolArguments(at === -1 ? [] : words.slice(at), schema);
  if (!flags.ok) return flags;
  const [only = ''] = values;
  const isObject = values.length === 1 && only.trim().startsWith('{');
  return ok({ ...readToolLine(isObject ? only : values.map(quoted).join(' '), schema), ...flags.value });
}

/** Quotes a shell word so that the line keeps it unchanged. */
function quoted(word: string): string {
  return `"${word.replace(/["\\]/g, '\\$&')}"`;
}
