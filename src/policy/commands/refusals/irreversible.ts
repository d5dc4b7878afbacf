import { type Surroundings, targetsOf } from '../../../shell/resolve-path.ts';
import { isListed, spellingsOf } from '../../../shell/spellings.ts';
import { wordGlobMatcher } from '../../../shell/word-glob.ts';
import { operandsAmong, type ShellWord } from '../../../shell/words.ts';
import { mayBeOption, runsRemover } from './catastrophes.ts';
import { lossBy } from './losses.ts';

/** Uses of git that lose work for good, or take it from others: by subcommand, the shape of its arguments. */
const LOSING: Readonly<Record<string, RegExp>> = {
  push: /^(-[a-zA-Z]*[fd][a-zA-Z]*|--fo(r.*)?|--mir.*|--del.*|--pru.*|[+:].+)$/,
  reset: /^--h(a(r(d)?)?)?$/,
  clean: /^(-[a-zA-Z]*f.*|--f.*)$/,
  branch: /^(-[a-zA-Z]*[DMC][a-zA-Z]*|--f.*)$/,
  checkout: /^(-[a-zA-Z]*f|--f.*)$/,
  switch: /^(-[a-zA-Z]*f|--f.*|--disc.*)$/,
  stash: /^(drop|clear)$/,
  reflog: /^(expire|delete)$/,
  gc: /^--prune(=.*)?$/,
  'update-ref': /^(-d|--stdin)$/,
};

/** Subcommands that do so with any arguments. */
const ALWAYS = /^(filter-branch|filter-repo)$/;

export interface Loss {
  /** The word that does it. */
  readonly word: string;
  readonly why: string;
}

/** Why nothing brings back what a command takes away, though it stays in the sandbox; undefined where something does. */
export function irreversible(name: string, args: readonly ShellWord[]): Loss | undefined {
  const values = args.map(({ value }) => value ?? '');
  const deep = name === 'rm' && removesFolders(args);
  const history = args.find((word, at) => isHistory(word, deep) && !(name === 'find' && isSpared(args, at)));
  if (removes(name, args) && history !== undefined)
    return { word: history.value ?? history.text, why: 'It would delete the whole history.' };
  if (name !== 'git') {
    const word = lossBy(name, values);
    return word === undefined ? undefined : loss(word, word === name ? `${name} deletes` : `${name} ${word} deletes`);
  }
  let at = 0;
  while (values[at]?.startsWith('-')) at += isListed(values[at] ?? '', spellingsOf('git').takes) ? 2 : 1;
  const subcommand = values[at] ?? '';
  const losing = Object.hasOwn(LOSING, subcommand) ? LOSING[subcommand] : undefined;
  const computed = args
    .slice(at)
    .find((word, index) => (index === 0 ? word.value === null : losing && mayBeOption(word)));
  if (computed !== undefined) return loss(computed.text, `git ${computed.text} may delete`);
  if (ALWAYS.test(subcommand)) return loss(subcommand, `git ${subcommand} deletes`);
  const found = values.slice(at + 1).find((value) => losing?.test(value));
  return found === undefined ? undefined : loss(found, `git ${subcommand} ${found} deletes`);
}

/** Why nothing brings back what is in the workspace, `.git` included, when it is emptied as a whole. */
export function emptied(
  name: string,
  args: readonly ShellWord[],
  folders: readonly string[],
  where: Surroundings,
): Loss | undefined {
  if (!removes(name, args)) return undefined;
  // `find . -name '*.pyc' -delete` chooses.
  if (
    name === 'find' &&
    args.some(({ seen }) => /^-(i?name|i?path|i?regex|type|size|[acm](time|min)|newer|empty)/.test(seen))
  )
    return undefined;
  const isWhole = (word: ShellWord) =>
    !word.pattern && targetsOf(word, folders, where).some((place) => place.kind === 'inside' && place.path === '');
  const whole = operandsAmong(args).find(isWhole);
  return (
    whole && { word: whole.value ?? whole.text, why: 'It would delete the workspace as a whole, its history included.' }
  );
}

function removes(name: string, args: readonly ShellWord[]): boolean {
  if (name === 'find') return args.some(({ seen }) => seen === '-delete') || runsRemover(args);
  return name === 'mv' || name === 'shred' || name === 'rm';
}

function removesFolders(args: readonly ShellWord[]): boolean {
  return args.some(({ seen }) => /^-[a-zA-Z]*[rR]|^--r/.test(seen));
}

/** `.git` itself, `.g*` and `.*`; and what is below it where folders go whole. */
function isHistory({ value, pattern }: ShellWord, deep: boolean): boolean {
  if (value === null) return false;
  const parts = value.replace(/(?<!\/)\/+$/, '').split('/');
  const name = parts.at(-1) ?? '';
  if (pattern && name.startsWith('.')) return wordGlobMatcher(name)('.git');
  return name === '.git' || (deep && parts.includes('.git'));
}

/**
 * `-path ./.git -prune -o …`, `-not -name .git`. But `-delete` goes into folders that are pruned or left out, so that it must
 * choose by something else too, or go no deeper.
 */
function isSpared(args: readonly ShellWord[], at: number): boolean {
  const text = (index: number) => args[index]?.value ?? '';
  const negated = (test: number) => isNot(text(test - 1)) && !isNot(text(test - 2));
  if (!/^-i?(name|path|wholename)$/.test(text(at - 1))) return false;
  const pruned = text(at + 1) === '-prune' && /^-o(r)?$/.test(text(at + 2)) && !isNot(text(at - 2));
  if (!pruned && !negated(at - 1)) return false;
  if (args.every(({ value }) => value !== '-delete')) return true;
  const flat = args.some(({ value }, index) => value === '-maxdepth' && text(index + 1) === '1');
  return flat || args.some((_, index) => index !== at - 1 && CHOOSING.test(text(index)) && !isNot(text(index - 1)));
}

const CHOOSING = /^-(i?name|i?path|i?wholename|i?regex|size|[acm](time|min)|newer|empty)/;

function isNot(word: string): boolean {
  return word === '!' || word === '-not';
}

function loss(word: string, how: string): Loss {
  return {
    word,
    why: `${how} data that cannot be restored. Only a rule that names ${word} allows it without approval.`,
  };
}
