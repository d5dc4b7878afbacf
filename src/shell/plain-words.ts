import { programName } from './program-name.ts';
import { readPlain } from './read-plain.ts';
import { knownWord } from './words.ts';

/** The words of one simple command; undefined for a script that is more than that. */
export function plainWords(text: string): string[] | undefined {
  const [only, ...more] = readPlain(text)?.commands ?? [];
  if (only === undefined || more.length > 0 || only.assignments.length > 0) return undefined;
  const values = only.words.map(knownWord);
  if (values.includes(null)) return undefined;
  const [name = '', ...args] = values as string[];
  return [programName(name), ...args];
}
