import { posix } from 'node:path';
import { type CommandPlan, type CommandUse, readCommandPlan } from '../../shell/command-plan.ts';
import { programName } from '../../shell/program-name.ts';
import type { ShellWord } from '../../shell/words.ts';
import { changesFolder, INTERPRETERS, LOADING, WRAPPERS } from './named-files.ts';

/** Stands for any text in a word of which a part is known only at run time. */
const ANY = '\0';
/** The innermost computed parts: variables of a shell and of make, substitutions, texts of templates, sets and braces. */
const COMPUTED = /\$+\{[^{}]*\}|\$+\([^()]*\)|`[^`]*`|\$+(?:\w+|[@*#?!-])|\{[^{}]*\}|\[[^\]]*\]|\*+|\?/g;
/** A program that stands in a variable by itself, such as `$(CC)` or `{{python}}`: an installed one, unless a loop sets it. */
const PROGRAM_VARIABLE = /^(?:\$[A-Z_]\w*|\$\{[A-Z_]\w*\}|\$\([A-Z_]\w*\)|\$\{?npm_\w+\}?|\{\{[^{}]*\}\})$/;
/** How deep scripts in words, and computed parts in others, are looked at. */
const MAX_DEPTH = 2;
const MAX_NESTED = 4;

/**
 * Returns a test for the programs that a script may run or load by words that are known only at run time: it holds for each path
 * that such a word may become. A runner of tests that is given a pattern picks tests, as it does by itself.
 */
export function programsComputedBy(plan: CommandPlan, folder: string): (path: string) => boolean {
  const words = computedBy(plan, 0);
  const place = changesFolder(plan.source) ? ANY : folder;
  const tests = words.map((word) => pathMatcher(word, place));
  return (path) => tests.some((matches) => matches(path.toLowerCase()));
}

function computedBy({ uses, source }: CommandPlan, depth: number): string[] {
  return uses.flatMap((use) => (use.isOpened ? [] : [...computedIn(use, source), ...computedInside(use, depth)]));
}

/** A text with blanks in it may be a script as well, as in `concurrently "sh tools/*.sh"`. */
function computedInside({ name, args }: CommandUse, depth: number): string[] {
  if (depth === MAX_DEPTH || (name !== null && INTERPRETERS.test(name))) return [];
  const texts = args.flatMap(({ value }) => (value !== null && /\s/.test(value) ? [value] : []));
  return texts.flatMap((text) => computedBy(readCommandPlan(text), depth + 1));
}

function computedIn({ words, redirections }: CommandUse, source: string): string[] {
  const at = words.findIndex((word) => !isWrapping(word));
  const first = words[at];
  if (first === undefined) return [];
  const rest = words.slice(at + 1);
  const isUnknown = isComputed(first);
  const isRunner = isUnknown || INTERPRETERS.test(programName(first.seen));
  const isTest = rest.some(({ seen }) => /^(?:--test|test)$/.test(seen));
  const inputs = redirections.filter(({ opens }) => opens === 'read').map(({ target }) => target);
  const ran = isRunner
    ? [...rest, ...inputs].filter((word) => isComputed(word) && !(isTest && word.value !== null))
    : [];
  const loaded = rest.filter((word, index) => word.value === null && isLoaded(word, rest[index - 1]));
  return [...(isUnknown && !isInstalled(first, source) ? [first] : []), ...ran, ...loaded].map(({ seen }) => seen);
}

function isWrapping({ seen }: ShellWord): boolean {
  return seen.startsWith('-') || WRAPPERS.test(programName(seen));
}

function isComputed({ value, pattern, home }: ShellWord): boolean {
  return (value === null && !home) || pattern;
}

function isLoaded({ seen }: ShellWord, before: ShellWord | undefined): boolean {
  return LOADING.test(seen.split('=', 1)[0] ?? '') || (before !== undefined && LOADING.test(before.seen));
}

function isInstalled({ seen }: ShellWord, source: string): boolean {
  const word = seen.replace(/^"(.*)"$/s, '$1');
  if (!PROGRAM_VARIABLE.test(word)) return false;
  const name = /[A-Za-z_]\w*/.exec(word)?.[0] ?? '';
  return !new RegExp(`\\b(?:for|read|select)\\b[^;|&\\n]*\\b${name}\\b`).test(source);
}

/** A word that an option carries counts behind its `=`, and one that goes up from a computed folder may be anywhere. */
function pathMatcher(word: string, folder: string): (path: string) => boolean {
  let text = word.replace(/^-[^=]*=/, '').replace(/["'\\]/g, '');
  for (let depth = 0; depth < MAX_NESTED; depth++) text = text.replace(COMPUTED, ANY);
  text = text.replace(/[^/]+(?=\/|$)/g, (name) => (/[$`(){}]/.test(name) ? ANY : name));
  const up = text.lastIndexOf('../');
  const isBehind = text.indexOf(ANY) !== -1 && text.indexOf(ANY) < up;
  const path = isBehind ? `${ANY}${text.slice(up + 3)}` : posix.normalize(text);
  const whole = path.startsWith(ANY)
    ? path
    : folder === ANY
      ? `${ANY}${path.replace(/^(?:\.\.\/)+/, '')}`
      : posix.join(folder, path);
  const parts = whole.toLowerCase().split(/\0+/);
  return (path) => [path, path.replace(ENDING, ''), path.replace(MAIN_FILE, '')].some((each) => isMadeOf(parts, each));
}

const ENDING = /\.\w{1,5}$/;
const MAIN_FILE = /\/(?:index|__main__|__init__|main)\.\w{1,5}$/;

/** Whether a text has these parts in their order, with anything between them. In time linear in the text, whatever the parts are. */
function isMadeOf([first = '', ...rest]: readonly string[], text: string): boolean {
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of rest) {
    at = text.indexOf(part, at);
    if (at === -1) return false;
    at += part.length;
  }
  return at <= text.length - last.length;
}
