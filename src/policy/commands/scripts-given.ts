import { parseScript, type ShellScript, type SimpleCommand } from './shell-script.ts';
import type { ShellWord } from './shell-words.ts';
import { SHELLS } from './shells.ts';
import { commandNames } from './wrappers.ts';

/** Programs besides shells that run commands which they are given to read. */
const READERS = new Set(['.', 'source', 'eval', 'at', 'batch', 'crontab', 'make', 'gmake']);

/**
 * Text that a shell is given to read: by a heredoc, a here-string, an `echo` in front of it, or one in `<(…)` and `$(…)`.
 */
export function scriptsGiven({ commands, pipelines }: ShellScript): string[] {
  const readers = commands.filter(reads);
  const given = readers.flatMap(({ input }) => input ?? []);
  const substituted = readers.flatMap(({ words }) => words.filter(({ runs }) => runs).flatMap(printedIn));
  const piped = pipelines.flatMap((pipeline) =>
    pipeline.slice(1).flatMap((stage, at) => (stage.some(reads) ? (pipeline[at] ?? []).flatMap(printedBy) : [])),
  );
  return [...given, ...substituted, ...piped];
}

function reads(command: SimpleCommand): boolean {
  return commandNames(command).some((name) => SHELLS.has(name) || READERS.has(name));
}

function printedIn({ text }: ShellWord): string[] {
  const script = /^"?(?:<\(|\$\(|`)(.*)[)`]"?$/s.exec(text)?.[1];
  return script === undefined ? [] : parseScript(script).commands.flatMap(printedBy);
}

function printedBy({ words: [first, ...words], input }: SimpleCommand): string[] {
  if (input !== undefined) return [input];
  if (!/^(echo|printf)$/.test(first?.value ?? '')) return [];
  const text = words.map(({ value }) => value ?? '').join(' ');
  return [text.replaceAll('\\n', '\n').replaceAll('\\t', '\t')];
}
