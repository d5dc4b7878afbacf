import { DECIDING_NAMES } from './risky-environment.ts';
import type { ShellWord } from './words.ts';

/** Builtins that run text as code or change what later words mean, whatever they are given. */
const ALWAYS = /^(?:alias|bind|complete|compgen|enable|fc|hash|let|shopt)$/;
/** Builtins that set the variables among their words. */
const NAMING = /^(?:declare|export|local|mapfile|read|readarray|readonly|typeset|unset)$/;
/** `a[$(ls)]`: looking the name up runs the command in it. */
const INDEXED = String.raw`^[^[]*\[[^$\`]*[$\`]`;
const indexed = new RegExp(INDEXED, 's');
/** A reference (`-n`), a callback (`-C`), `PATH`, `r=PATH`, and a name that is computed in whole or in part: `$x`, `P$x=.`. */
const deciding = new RegExp(`^-[a-zA-Z]*[nC]|(?:^|=)(?:${DECIDING_NAMES})(?:$|[=[+])|${INDEXED}|^[^=]*[$\`]`, 's');
/** `{PATH,X}=.` sets several variables. */
const BRACES = /(?:^|[^$])\{/;

/** Whether a builtin runs text as code with these arguments, or changes what later words mean. */
export function isTrickyBuiltin(name: string, args: readonly ShellWord[]): boolean {
  if (ALWAYS.test(name)) return args.length > 0;
  if (name === '.' || name === 'source') return args.some(({ seen }) => /^(\/dev|\/proc|-$|<\()/.test(seen));
  // In a word that the shell expands itself, an index was judged when the script was parsed.
  if (name === 'test' || name === '[') return args.some(({ value, seen }) => value !== null && indexed.test(seen));
  const setsVariable = name === 'printf' && args[0]?.seen.startsWith('-v');
  const named = setsVariable ? args.slice(0, 2) : NAMING.test(name) ? args : [];
  return named.some(({ seen, value, text }) => deciding.test(seen) || (value === null && BRACES.test(text)));
}
