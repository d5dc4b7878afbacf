import { parseScript } from './parse-script.ts';
import { programName } from './program-name.ts';
import { knownWord } from './words.ts';

/** The words of one simple command; undefined for a script that is more than that. */
export function plainWords(text: string): string[] | undefined {
  const { isPlain, commands } = parseScript(text);
  const [only, ...more] = commands;
  if (!isPlain || only === undefined || more.length > 0 || only.assignments.length > 0) return undefined;
  const values = only.words.map(knownWord);
  if (values.includes(null)) return undefined;
  const [name = '', ...args] = values as string[];
  return [programName(name), ...args];
}
