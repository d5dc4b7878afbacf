import { DECIDING_NAMES } from './risky-environment.ts';
import type { ShellWord } from './words.ts';

/** `PATH`, `PATH=.`, `r=PATH`. */
const DECIDING = `(?:^|=)(?:${DECIDING_NAMES})(?:$|[=[+])`;
/** `a[$(ls)]`: looking the name up runs the command in it. */
const INDEXED = String.raw`^[^[]*\[[^$\`]*[$\`]`;
/** A name that is computed in whole or in part: `$x`, `P$x=.`. */
const COMPUTED = '^[^=]*[$`]';
const NAMING = `${DECIDING}|${INDEXED}|${COMPUTED}`;
const evaluating = new RegExp(INDEXED, 's');
const naming = new RegExp(NAMING, 's');
const declaring = new RegExp(`^-[a-zA-Z]*n|${NAMING}`, 's');
const callingBack = new RegExp(`^-[a-zA-Z]*C|${NAMING}`, 's');
/** Anything but numbers and operators: names are evaluated too, and so is their text. */
const computing = /[^\d\s+\-*/%()<>=!&|^?:,]/;
/** `{PATH,X}=.` sets several variables. */
const BRACES = /(?:^|[^$])\{/;
const reading = /^(\/dev|\/proc|-$|<\()/;

/** Arguments with which a builtin runs text as code, or changes what later words mean. */
const TRICKS: Readonly<Record<string, RegExp>> = {
  alias: /=|^["']?[$`]/,
  shopt: /expand_aliases|^["']?[$`]/,
  enable: /^/,
  hash: /^-[a-zA-Z]*p/,
  bind: /^/,
  complete: /^/,
  compgen: /^-[a-zA-Z]*[CFW]/,
  fc: /^/,
  mapfile: callingBack,
  readarray: callingBack,
  '.': reading,
  source: reading,
  let: computing,
  test: evaluating,
  '[': evaluating,
  read: naming,
  unset: naming,
  declare: declaring,
  typeset: declaring,
  local: declaring,
  readonly: naming,
  export: declaring,
};

export function isTrickyBuiltin(name: string, args: readonly ShellWord[]): boolean {
  if (name === 'printf')
    return args[0]?.seen.startsWith('-v') === true && args.slice(0, 2).some((word) => isTricky(word, naming));
  const trick = Object.hasOwn(TRICKS, name) ? TRICKS[name] : undefined;
  if (trick === undefined) return false;
  return args.some((word) => isTricky(word, trick));
}

function isTricky({ value, text, seen }: ShellWord, trick: RegExp): boolean {
  // In a word that the shell expands itself, an index was judged when the script was parsed.
  if (value === null && trick === evaluating) return false;
  return trick.test(seen) || (value === null && BRACES.test(text));
}
