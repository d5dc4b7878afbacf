import { isDataProgram } from './inside-readings.ts';
import { parseScript, type ShellScript } from './parse-script.ts';
import { SHELLS } from './shells.ts';
import type { SimpleCommand } from './simple-command.ts';
import type { ShellWord } from './words.ts';
import { commandNames } from './wrappers.ts';

/** Programs besides shells that run commands which they are given to read. */
const READERS = new Set(['.', 'source', 'eval', 'at', 'batch', 'crontab', 'make', 'gmake']);
/** Characters of substitutions that are parsed once more. */
const MAX_CHARACTERS = 20_000;

/** Text that a shell may be given to read: by a heredoc, a here-string, an `echo` in front of it, or one in `<(…)` and `$(…)`. */
export function findInlineScripts({ commands }: ShellScript): readonly string[] {
  const readers = commands.filter(reads);
  if (readers.length === 0) return [];
  const inside = readers
    .flatMap(({ words }) => words.flatMap(scriptIn))
    .join('\n')
    .slice(0, MAX_CHARACTERS);
  const printed = inside === '' ? [] : parseScript(inside).commands;
  return [...readers.flatMap(({ input }) => input ?? []), ...[...commands, ...printed].flatMap(printedBy)];
}

function reads(command: SimpleCommand): boolean {
  return commandNames(command).some((name) => SHELLS.has(name) || READERS.has(name));
}

function scriptIn({ text, runs }: ShellWord): string[] {
  const script = runs ? /^"?(?:<\(|\$\(|`)(.*)[)`]"?$/s.exec(text)?.[1] : undefined;
  return script === undefined ? [] : [script];
}

function printedBy({ words: [first, ...words], input }: SimpleCommand): string[] {
  if (first?.value === null || !isDataProgram(first?.value ?? '')) return [];
  if (input !== undefined) return [input];
  if (!/^(echo|printf)$/.test(first?.value ?? '')) return [];
  const text = words.map(({ value }) => value ?? '').join(' ');
  return [text.replaceAll('\\n', '\n').replaceAll('\\t', '\t')];
}
