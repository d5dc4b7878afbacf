import type { ShellWord } from './words.ts';

/** The known options of a command: `-x` and `--long`, separated by blanks. */
export interface FlagTable {
  /** Options that stand alone. */
  readonly alone?: string;
  /** Options that take a value: `-n 5`, `-n5`, `--lines=5`, `--lines 5`. */
  readonly takes?: string;
  /** Options whose value, if any, is glued on: `--color=auto`, `-i.bak`. */
  readonly glued?: string;
  /** `-20` as `head` and `git log` take it. */
  readonly digits?: boolean;
}

export interface ParsedFlags {
  /** In order, with their values. */
  readonly options: readonly { readonly name: string; readonly value: ShellWord | undefined }[];
  readonly operands: readonly ShellWord[];
}

interface KnownFlags {
  readonly alone: ReadonlySet<string>;
  readonly takes: ReadonlySet<string>;
  readonly glued: ReadonlySet<string>;
}

const compiled = new WeakMap<FlagTable, KnownFlags>();

/**
 * Splits arguments into options and operands, or says which option is not known. Nothing is guessed: an abbreviated
 * long option is unknown, and so is a letter in a cluster that the table does not have.
 */
export function parseFlags(args: readonly ShellWord[], table: FlagTable): ParsedFlags | { unknown: string } {
  const known = compileTable(table);
  const options: { name: string; value: ShellWord | undefined }[] = [];
  const operands: ShellWord[] = [];
  const lure = maybeOption(args);
  if (lure !== undefined) return { unknown: lure.text };
  const queue = [...args];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    const { value } = word;
    if (value === null) {
      // Could be an option at run time, unless its first character is known to be none.
      const isOperand = word.later !== undefined || (isOneWord(word) && (word.home || /^["']?[\w./]/.test(word.text)));
      if (isOperand) operands.push(word);
      else return { unknown: word.text };
      continue;
    }
    if (value === '--') {
      operands.push(...queue.splice(0));
    } else if (value === '-' || !value.startsWith('-')) {
      operands.push(word);
    } else if (table.digits && /^-\d+$/.test(value)) {
      options.push({ name: '-#', value: word });
    } else {
      const rest = value.startsWith('--') ? long(word, value) : cluster(word, value);
      if (rest !== undefined) return { unknown: rest };
    }
  }
  return { options, operands };

  /**
   * Whether a value may be something else. Further files that a pattern matches are operands; and a word that looks like an
   * option is one to some versions of a program.
   */
  function mayBeElse(name: string, word: ShellWord | undefined): boolean {
    return word?.pattern === true || (/^--?[a-zA-Z]/.test(word?.value ?? '') && !PATTERNS.has(name));
  }

  /** Returns the unknown option, or undefined. */
  function long(word: ShellWord, text: string): string | undefined {
    const equals = text.indexOf('=');
    const name = equals === -1 ? text : text.slice(0, equals);
    const given = equals === -1 ? undefined : { ...word, value: text.slice(equals + 1) };
    if (known.takes.has(name)) {
      const next = given ?? queue.shift();
      if (!isOneWord(next) || (given === undefined && mayBeElse(name, next))) return name;
      options.push({ name, value: next });
    } else if (known.glued.has(name) || (known.alone.has(name) && given === undefined))
      options.push({ name, value: given });
    else return name;
    return undefined;
  }

  function cluster(word: ShellWord, text: string): string | undefined {
    for (let at = 1; at < text.length; at++) {
      const name = `-${text[at]}`;
      const rest = text.slice(at + 1);
      if (known.alone.has(name)) {
        options.push({ name, value: undefined });
        continue;
      }
      const glued = rest === '' ? undefined : { ...word, value: rest };
      if (known.takes.has(name)) {
        const next = glued ?? queue.shift();
        if (!isOneWord(next) || (glued === undefined && mayBeElse(name, next))) return name;
        options.push({ name, value: next });
      } else if (known.glued.has(name)) options.push({ name, value: glued });
      else return name;
      return undefined;
    }
    return undefined;
  }
}

/** Options whose value is a text that may begin with a dash. */
const PATTERNS = new Set(['-e', '-S', '-G', '--regexp', '--expression', '--grep', '--sort']);

/** False for a computed word without quotes: it may become several words, and the second an option. So may `"$@"` and `"${all[@]}"`. */
export function isOneWord(word: ShellWord | undefined): boolean {
  if (word === undefined || word.value !== null || word.later === 'one') return true;
  if (word.home && !word.pattern && !/[$`{]/.test(word.text.replace(/^"?\$(HOME|\{HOME\})/, ''))) return true;
  return /^"[^"]*"$/.test(word.text) && !/\$@|\$\{[^}]*@/.test(word.text);
}

/** `*` also matches a file named `--output=x`; a pattern that begins with a letter or `./` does not. */
function maybeOption(args: readonly ShellWord[]): ShellWord | undefined {
  const end = args.findIndex(({ value }) => value === '--');
  return (end === -1 ? args : args.slice(0, end)).find(({ pattern, text }) => pattern && !/^["'\\]?[\w./]/.test(text));
}

function compileTable(table: FlagTable): KnownFlags {
  const cached = compiled.get(table);
  if (cached !== undefined) return cached;
  const set = (text = '') => new Set(text.split(/\s+/).filter(Boolean));
  const known = { alone: set(table.alone), takes: set(table.takes), glued: set(table.glued) };
  compiled.set(table, known);
  return known;
}
