import type { ShellWord } from './shell-words.ts';

/** The word itself; of an option what it may carry: `--file=x`, `-fx`, `-d@x`, `-F part=@x;type=y`. */
export function namesIn(word: string): readonly string[] {
  const behind = word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : [];
  const carried = /^-[A-Za-z][^-]/.test(word) ? [word.slice(2)] : [];
  const all = word.startsWith('-') ? [...(behind.length === 0 ? carried : []), ...behind] : [word, ...behind];
  return [...new Set([...all, ...contentsIn(word)])];
}

/** Files whose content stands for them: `@x` to curl and many others, `part=<x` to curl. */
function contentsIn(word: string): readonly string[] {
  const mark = word.search(/[@<]/);
  const name = mark === -1 ? '' : word.slice(mark + 1);
  return /[;,]/.test(name) ? [name, ...name.split(/[;,]/)] : [name];
}

/** `{a,b}.py` stands for names that can be told before it runs, as a pattern's can. */
export function bracesOf({ text }: ShellWord): string | undefined {
  if (/[$`'"\\()<>]/.test(text)) return undefined;
  const open = text.indexOf('{');
  const comma = text.indexOf(',', open);
  const isList = open !== -1 && comma !== -1 && text.lastIndexOf('}') > comma;
  return isList && !text.slice(0, open).includes('~') ? text : undefined;
}
