import type { ShellWord } from '../../shell/words.ts';

/** The most characters that a system takes for a path, and for one name in it. */
const LONGEST_PATH = 4095;
const LONGEST_NAME = 255;
/** Short options in one word, behind each of which a name may begin. */
const MOST_LETTERS = 64;

/** The word itself; of an option what it may carry: `--file=x`, `-fx`, `-nfx`, `-d@x`, `-F part=@x;type=y`; of a list each: `a.jar:b.jar`. */
export function namesIn(word: string): readonly string[] {
  const behind = word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : [];
  const letters = /^-([A-Za-z0-9]*)/.exec(word)?.[1]?.slice(0, MOST_LETTERS) ?? '';
  const carried = Array.from(letters, (_, at) => word.slice(at + 2));
  const all = word.startsWith('-') ? [...behind, ...carried] : [word, ...behind];
  const listed = word.includes(':') ? word.split(':') : [];
  return [...new Set([...all, ...listed, ...contentsIn(word)])].map(withoutDots).filter(mayBeName);
}

/** `././x` is longer than it need be; and so is `x/`. */
function withoutDots(name: string): string {
  if (name.length > LONGEST_PATH) return name;
  const short = name.replace(/^(?:\.\/+)+(?=.)/s, '').replace(/\/(?:\.?\/)+/g, '/');
  return short.length > 1 && short.endsWith('/') ? short.slice(0, -1) : short;
}

function mayBeName(name: string): boolean {
  return name !== '' && name.length <= LONGEST_PATH && !name.split('/').some((part) => part.length > LONGEST_NAME);
}

/**
 * Whether it stands for names in a way that patterns are not read here: with quotes around what would be part of it, with
 * alternatives in parentheses, with classes of letters, or with braces that are none to the shell.
 */
export function isOddPattern({ text, value, pattern }: ShellWord): boolean {
  if (!pattern) return false;
  const bare = text.replace(/\\.|'[^']*'|"[^"]*"/gs, '');
  return (
    marksIn(value ?? text) > marksIn(bare) ||
    /[@?*+!]\(|\[\[[:.=]|\[:[a-z]+:\]|\[[.=].{1,20}[.=]\]|(?<!\$)\{[^{},]*\}/.test(bare)
  );
}

function marksIn(text: string): number {
  return text.match(/[*?[{]/g)?.length ?? 0;
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
