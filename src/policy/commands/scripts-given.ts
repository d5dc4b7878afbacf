import { type Inner, loosely } from './inner.ts';
import { isElsewhere, readsCode, stringsIn } from './launchers.ts';
import { parseScript, type ShellScript, type SimpleCommand } from './shell-script.ts';
import type { ShellWord } from './shell-words.ts';
import { SHELLS } from './shells.ts';
import { commandNames } from './wrappers.ts';

/** Programs besides shells that run commands which they are given to read. */
const READERS = new Set(['.', 'source', 'eval', 'at', 'batch', 'crontab', 'make', 'gmake']);

/**
 * Text that a shell is given to read: by a heredoc, a here-string, an `echo` in front of it, or one in `<(…)` and `$(…)`.
 */
export function scriptsGiven({ commands, pipelines }: ShellScript): readonly Inner[] {
  const own = commands.flatMap((command) => readBy(command, [...given(command), ...command.words.flatMap(printedIn)]));
  const piped = pipelines.flatMap((pipeline) =>
    pipeline.slice(1).flatMap((stage, at) => {
      const printed = (pipeline[at] ?? []).flatMap(printedBy);
      return stage.flatMap((command) => readBy(command, printed));
    }),
  );
  return [...own, ...piped];
}

/** What a command makes of the texts that it is given to read. */
function readBy(command: SimpleCommand, texts: readonly string[]): readonly Inner[] {
  const [first = '', ...inner] = commandNames(command);
  if (readsCode(first) && command.words.slice(1).every(({ text }) => text.startsWith('-')))
    return texts.flatMap(stringsIn);
  if (![first, ...inner].some((name) => SHELLS.has(name) || READERS.has(name))) return [];
  return texts.map((source) => (isElsewhere(first) ? loosely(source, 'elsewhere') : { kind: 'script', source }));
}

function given({ input }: SimpleCommand): string[] {
  return input === undefined ? [] : [input];
}

function printedIn({ text, runs }: ShellWord): string[] {
  const script = runs ? /^"?(?:<\(|\$\(|`)(.*)[)`]"?$/s.exec(text)?.[1] : undefined;
  return script === undefined ? [] : parseScript(script).commands.flatMap(printedBy);
}

function printedBy({ words: [first, ...words], input }: SimpleCommand): string[] {
  if (input !== undefined) return [input];
  if (!/^(echo|printf)$/.test(first?.value ?? '')) return [];
  const text = words.map(({ value }) => value ?? '').join(' ');
  return [text.replaceAll('\\n', '\n').replaceAll('\\t', '\t')];
}
