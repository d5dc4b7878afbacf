import { basename } from 'node:path';
import { plainWord, type ShellWord } from './words.ts';

/**
 * Words inside a command that may be a command line themselves. `starts`: they stand where a program is started, behind a launcher, at the
 * beginning of a text or in code that starts programs. `mentions`: they stand in a text.
 */
export interface InsideReading {
  readonly words: readonly ShellWord[];
  readonly kind: 'starts' | 'mentions';
}

/** More of them in one script are never judged one by one. */
export const MAX_INSIDE_READINGS = 64;
/** The words of one reading; behind them stand no options of a program. */
const MAX_WORDS = 100;

/** Programs that print, compare or name what they are given, and start nothing. */
const DATA_PROGRAMS = new Set(
  `: [ [[ basename cat cd command-not-found comm cut date diff dirname du echo egrep expr false fgrep grep head id jq ls mkdir nl printf pwd
  readlink realpath seq sleep stat tail tee test touch tr true type uname uniq wc whereis which whoami`.split(/\s+/),
);
/** Options whose value is a text for people. */
const MESSAGE_OPTION =
  /^(?:-[as]*m|--(?:message|title|body|description|subject|notes?|comment|author|reason|grep|pretty|format|pattern|query|regexp))(?:=|$)/;

/** Names in code that start programs, in any of the languages. */
const STARTING =
  /system|exec|spawn|popen|process|\bos\b|\brun\b|\bcall\b|command|shell|fork|eval|import_|importlib|getline|`|\bqx\b|%x|\bopen\b|\|\s*["'&]|["']\s*\|/i;

export function isDataProgram(name: string): boolean {
  return DATA_PROGRAMS.has(name);
}

/** Reads the arguments and the input of a command in every way in which they may name one of the `wanted` programs with its words. */
export function readInside(
  { name, args, input }: { name: string; args: readonly ShellWord[]; input: string | undefined },
  wanted: (program: string) => boolean,
): readonly InsideReading[] {
  if (isDataProgram(name)) return [];
  const readings: InsideReading[] = [];
  for (const [at, word] of args.entries()) {
    if (readings.length > MAX_INSIDE_READINGS) break;
    if (isText(word)) {
      if (!isMessage(args, at)) readings.push(...readText(word.value ?? word.text, wanted));
    } else if (word.value !== null && wanted(programOf(word.value)))
      readings.push({
        words: [plainWord(programOf(word.value)), ...args.slice(at + 1, at + MAX_WORDS)],
        kind: 'starts',
      });
  }
  return input === undefined ? readings : [...readings, ...readText(input, wanted)];
}

/** Every wanted program in a text, with the words behind it up to the end of its line or command. */
export function readText(text: string, wanted: (program: string) => boolean): readonly InsideReading[] {
  const readings: InsideReading[] = [];
  const starts = STARTING.test(text);
  for (const line of text.split(/[;|&\n]+/)) {
    const tokens = line.split(/[\s"'`(),[\]{}\\]+/).filter(Boolean);
    for (const [at, token] of tokens.entries()) {
      if (!wanted(programOf(token))) continue;
      const words = [programOf(token), ...tokens.slice(at + 1, at + MAX_WORDS)].map(wordOf);
      readings.push({ words, kind: starts || at === 0 ? 'starts' : 'mentions' });
      if (readings.length > MAX_INSIDE_READINGS) return readings;
    }
  }
  return readings;
}

/** The program that a token names behind a path, `x=`, `!`, `:!` or a short option, as in `-mpip`. */
function programOf(token: string): string {
  return basename(token.replace(/^(?:.*[=!]|-[a-zA-Z](?=[a-zA-Z]{2}))/s, ''));
}

function isText({ value, text, pattern }: ShellWord): boolean {
  return !pattern && /[\s;|&'"()]/.test(value ?? text);
}

function isMessage(args: readonly ShellWord[], at: number): boolean {
  const [before = '', own = ''] = [args[at - 1]?.seen, args[at]?.seen];
  return own.startsWith('--') ? MESSAGE_OPTION.test(own) : !before.includes('=') && MESSAGE_OPTION.test(before);
}

/** A computed part may become anything. */
function wordOf(token: string): ShellWord {
  return token.includes('$') ? { ...plainWord(token), value: null } : plainWord(token);
}
