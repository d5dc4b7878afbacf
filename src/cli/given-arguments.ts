import { fail, type Result } from '../kernel/result.ts';
import type { Cli } from './cli.ts';
import { readObject } from './read-object.ts';

interface Given {
  readonly input: string | undefined;
  readonly words: readonly string[];
}

/** The arguments of a call: from `--input`, which gives all of them, or else from the words behind the tool's name. */
export function givenArguments(
  cli: Cli,
  { input, words }: Given,
  read: (words: readonly string[]) => Result<Record<string, unknown>>,
): Result<Record<string, unknown>> {
  if (input === undefined) return read(words);
  if (words[0] !== undefined) return fail('INVALID_INPUT', `--input gives all parameters: leave out ${words[0]}.`);
  return readObject(input, cli.words.notAnObject('--input'));
}
