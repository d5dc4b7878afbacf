import { isElsewhere, readsCode, stringsIn } from './launchers.ts';
import { parseScript, type ShellScript, type SimpleCommand } from './parse-script.ts';
import { SHELLS } from './shells.ts';
import type { ShellWord } from './words.ts';
import { guessScript, unseen, type WrappedCommand } from './wrapped-command.ts';
import { commandNames } from './wrappers.ts';

/** Programs besides shells that run commands which they are given to read. */
const READERS = new Set(['.', 'source', 'eval', 'at', 'batch', 'crontab', 'make', 'gmake']);

/** Characters of substitutions that are parsed once more: one in another counts in each. */
const MOST_READ_AGAIN = 150_000;
const TOO_MANY = unseen('it has more substitutions in each other than can be checked');

/**
 * Text that a shell is given to read: by a heredoc, a here-string, an `echo` in front of it, or one in `<(…)` and `$(…)`.
 */
export function findInlineScripts({ commands, pipelines }: ShellScript): readonly WrappedCommand[] {
  let left = MOST_READ_AGAIN;
  const own = commands.flatMap((command) => {
    if (readerOf(command) === undefined) return [];
    const inside = command.words.flatMap(scriptIn);
    left -= inside.join('').length;
    const printed = left < 0 ? [] : inside.flatMap((script) => parseScript(script).commands.flatMap(printedBy));
    return [...readBy(command, [...given(command), ...printed]), ...(left < 0 ? [TOO_MANY] : [])];
  });
  const piped = pipelines.flatMap((pipeline) =>
    pipeline.slice(1).flatMap((stage, at) => {
      const printed = (pipeline[at] ?? []).flatMap(printedBy);
      return stage.flatMap((command) => readBy(command, printed));
    }),
  );
  return [...own, ...piped];
}

/** The commands that a command makes of the texts in its input. */
function readBy(command: SimpleCommand, texts: readonly string[]): readonly WrappedCommand[] {
  const reader = texts.length === 0 ? undefined : readerOf(command);
  if (reader === undefined) return [];
  if (reader === 'code') return texts.flatMap(stringsIn);
  return texts.map((source) => (reader === 'elsewhere' ? guessScript(source, reader) : { kind: 'script', source }));
}

/** Whether it reads code or commands, and those where they are no concern of ours. Undefined where it does neither. */
function readerOf(command: SimpleCommand): 'code' | 'commands' | 'elsewhere' | undefined {
  const [first = '', ...inner] = commandNames(command);
  if (readsCode(first) && command.words.slice(1).every(({ seen }) => seen.startsWith('-'))) return 'code';
  if (![first, ...inner].some((name) => SHELLS.has(name) || READERS.has(name))) return undefined;
  return isElsewhere(first) ? 'elsewhere' : 'commands';
}

function given({ input }: SimpleCommand): string[] {
  return input === undefined ? [] : [input];
}

function scriptIn({ text, runs }: ShellWord): string[] {
  const script = runs ? /^"?(?:<\(|\$\(|`)(.*)[)`]"?$/s.exec(text)?.[1] : undefined;
  return script === undefined ? [] : [script];
}

function printedBy({ words: [first, ...words], input }: SimpleCommand): string[] {
  if (input !== undefined) return [input];
  if (!/^(echo|printf)$/.test(first?.value ?? '')) return [];
  const text = words.map(({ value }) => value ?? '').join(' ');
  return [text.replaceAll('\\n', '\n').replaceAll('\\t', '\t')];
}
