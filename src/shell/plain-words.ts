import { parseScript } from './parse-script.ts';
import { programName } from './program-name.ts';

/** The words of one simple command; undefined for a script that is more than that. */
export function plainWords(text: string): string[] | undefined {
  const { commands, problems } = parseScript(text);
  const [only, ...more] = commands;
  if (only === undefined || more.length > 0 || problems.length > 0) return undefined;
  if (only.redirections.length > 0 || only.assignments.length > 0) return undefined;
  const values = only.words.map(({ value, pattern }) => (pattern ? null : value));
  if (values.includes(null)) return undefined;
  const [name = '', ...args] = values as string[];
  return [programName(name), ...args];
}
