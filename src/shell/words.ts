import type { Word, WordPart } from 'unbash';

/** One word of a command, as far as it can be known before the shell runs it. */
export interface ShellWord {
  /** As written. */
  readonly text: string;
  /** Quotes removed; null when any of it is computed at run time. Patterns stay as written. */
  readonly value: string | null;
  /** The whole word as the program receives it, to recognise options; as written where that is not known. */
  readonly seen: string;
  /** The shell may replace it by the files it matches. */
  readonly pattern: boolean;
  /** Begins with an unquoted `~`, or is `$HOME` with or without something behind it. */
  readonly home: boolean;
  /** Holds a command substitution or another piece of shell. */
  readonly runs: boolean;
}

export function shellWord(word: Word): ShellWord {
  const { text } = word;
  const parts = word.parts ?? [];
  const home = /^~(\/|$)/.test(text) || /^"?\$(HOME|\{HOME\})"?(\/|"|$)/.test(text);
  const runs = parts.some(runsCommands);
  const pattern = parts.some(({ type }) => type === 'Glob' || type === 'ExtendedGlob');
  const computed = /^~[^/]/.test(text) || HOME_BEHIND.test(text) || isReadDifferently(text) || parts.some(isComputed);
  const value = home || computed ? null : plainValue(word, parts);
  return { text, value, seen: value ?? text, pattern, home, runs };
}

/** Escapes of `$'…'` that every reader takes for the same character: one of ASCII, and not the one that ends a string. */
const PLAIN_ESCAPES =
  /^(?:[^\\]|\\[abeEfnrtv\\'"?]|\\(?!000|0{1,2}(?![0-7]))(?:[01][0-7]{2}|[0-7]{1,2}(?![0-7]))|\\x(?:0[1-9a-fA-F]|[1-7][\da-fA-F]|[1-9a-fA-F](?![\da-fA-F])))*$/;

/** Whether shells and grammars disagree on the text: about rare escapes, translated strings, and lines continued inside a word. */
function isReadDifferently(text: string): boolean {
  // A word in single quotes alone has no escapes.
  if (/^'[^']*'$/.test(text)) return false;
  if (text.includes('$"') || text.includes('\\\n')) return true;
  if (!text.includes("$'")) return false;
  return [...text.matchAll(/(?=\$'((?:[^'\\]|\\.)*)')/gs)].some(([, inside = '']) => !PLAIN_ESCAPES.test(inside));
}

/** An argument that looks like an assignment has its `~` expanded too: `make dir=~`. */
const HOME_BEHIND = /^[A-Za-z_]\w*\+?=(?:.*:)?~/s;

const COMPUTED = [
  'SimpleExpansion',
  'ParameterExpansion',
  'CommandExpansion',
  'ArithmeticExpansion',
  'ProcessSubstitution',
  'BraceExpansion',
];

const runsCommands = contains(['CommandExpansion', 'ProcessSubstitution']);
const isComputed = contains(COMPUTED);

function contains(types: readonly string[]): (part: WordPart) => boolean {
  return function holds(part) {
    return types.includes(part.type) || ('parts' in part && (part.parts ?? []).some(holds));
  };
}

/** A word without parts is plain; a brace that is no expansion (`{}` of find and xargs) is plain too. */
function plainValue(word: Word, parts: readonly WordPart[]): string {
  return parts.some(({ type }) => type === 'ExtendedGlob') ? word.text : word.value;
}

/** Null for a word that is known only at run time, and for a pattern, which becomes the files that it matches. */
export function knownWord({ value, pattern }: ShellWord): string | null {
  return pattern ? null : value;
}

/** The words that are no options to a program: those without a dash, a dash alone, and all behind `--`. */
export function operandsAmong(args: readonly ShellWord[]): readonly ShellWord[] {
  const end = args.findIndex(({ seen }) => seen === '--');
  const isOperand = ({ seen }: ShellWord) => seen === '-' || !seen.startsWith('-');
  return end === -1 ? args.filter(isOperand) : [...args.slice(0, end).filter(isOperand), ...args.slice(end + 1)];
}

/** A word that comes from here and not from a shell: an argument of `xargs`, a string of `env -S`. */
export function plainWord(value: string): ShellWord {
  return { text: value, value, seen: value, pattern: false, home: false, runs: false };
}
