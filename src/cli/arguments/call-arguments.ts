import { fail, ok, type Result } from '../../kernel/result.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';
import type { Cli } from '../cli.ts';

interface TypedCall {
  readonly input: string | undefined;
  readonly words: readonly string[];
}

/**
 * Reads the arguments of a call from `--input`, which gives all of them, or else from the words after the tool's name.
 */
export function readCallArguments(
  cli: Cli,
  { input, words }: TypedCall,
  read: (words: readonly string[]) => Result<Record<string, unknown>>,
): Result<Record<string, unknown>> {
  if (input === undefined) return read(words);
  if (words[0] !== undefined) return fail('INVALID_INPUT', `--input gives all parameters: leave out ${words[0]}.`);
  return readObject(input, cli.words.notAnObject('--input'));
}

/** Parses a JSON object that a person typed; `message` is the error. */
export function readObject(text: string, message: string): Result<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (isPlainObject(value)) return ok(value);
  } catch {
    // Reported below.
  }
  return fail('INVALID_INPUT', message);
}
