import { type Caught, strongest, weakest } from '../caught.ts';
import { findOption, type NamedOption } from './option-spellings.ts';
import { isListed, type Spellings, SUBCOMMANDS_OF_GIT, spellingsOf } from '../../shell/spellings.ts';
import type { KnownWord, WordPattern } from '../word-pattern.ts';

/**
 * Whether a command is what a rule holds back, however it is spelled: plain words count in their order, options wherever
 * they stand, and neither the folder of the program nor other options in between hide them.
 */
export function catches(fixed: readonly WordPattern[], open: boolean, given: readonly KnownWord[]): Caught {
  const [first, ...rest] = fixed;
  const [word = '', ...args] = given;
  if (word === null || first === undefined) return 'maybe';
  // `pip3.11` is pip.
  const program = word
    .replace(/^.*\//s, '')
    .replace(/^(pip|python)[\d.]+$/, (whole, name) => (first.matches(whole) ? whole : name));
  if (!first.matches(program) && !first.matches(word)) return 'no';
  // `git -c alias.x=push x` gives a subcommand another name.
  const spellings = spellingsOf(program);
  const renamed =
    args.some((arg) => /^(-c|--config-env=)?alias\./i.test(arg ?? '')) ||
    (program === 'git' && mayBeAlias(args, spellings));
  return readings(rest, spellings)
    .map((reading) => caughtAs(reading, open, args, spellings))
    .reduce(strongest, renamed ? 'maybe' : 'no');
}

/** A subcommand that git does not have itself: its configuration, or one that it includes, may give it any meaning. */
function mayBeAlias(args: readonly KnownWord[], { takes }: Spellings): boolean {
  let at = 0;
  for (let word = args[at]; word?.startsWith('-'); word = args[at]) at += isListed(word, takes) ? 2 : 1;
  const subcommand = args[at];
  return subcommand !== undefined && subcommand !== null && !isListed(subcommand, SUBCOMMANDS_OF_GIT);
}

interface Reading {
  readonly plain: readonly WordPattern[];
  readonly options: readonly NamedOption[];
}

/** The word behind an option may be its value or not: a rule is read both ways. */
function readings([first, ...rest]: readonly WordPattern[], spellings: Spellings): readonly Reading[] {
  if (first === undefined) return [{ plain: [], options: [] }];
  const others = readings(rest, spellings);
  if (!first.isOption) {
    const isGroup = first.literal !== undefined && isListed(first.literal, spellings.groups);
    return isGroup ? others : others.map(({ plain, options }) => ({ plain: [first, ...plain], options }));
  }
  const alone = others.map(({ plain, options }) => ({ plain, options: [{ option: first }, ...options] }));
  const [value, ...behind] = rest;
  if (value === undefined || value.isOption || rest.length > MOST_WORDS) return alone;
  const bound = readings(behind, spellings).map(({ plain, options }) => ({
    plain,
    options: [{ option: first, value }, ...options],
  }));
  return [...alone, ...bound];
}

/** In longer rules an option's value counts as a word by itself. */
const MOST_WORDS = 8;

function caughtAs(
  { plain, options }: Reading,
  open: boolean,
  args: readonly KnownWord[],
  spellings: Spellings,
): Caught {
  const used = new Set<number>();
  let caught: Caught = 'yes';
  for (const option of options) {
    const found = findOption(option, args, spellings);
    for (const at of found.at) used.add(at);
    caught = weakest(caught, found.caught);
  }
  const walked = inOrder(plain, args, used, spellings);
  caught = weakest(caught, walked.caught);
  if (open || caught === 'no') return caught;
  const last = Math.max(walked.end - 1, ...used);
  const left = args.filter((_, at) => at >= walked.end && !used.has(at)).filter((word) => word !== null);
  const isMore = left.some((word) => !isOption(word)) || args.slice(last + 1).some((word) => word !== null);
  if (isMore) return 'no';
  return args.slice(walked.end).includes(null) ? 'maybe' : caught;
}

/** The plain words of a rule, each the next one but for options and what may belong to these. */
function inOrder(
  plain: readonly WordPattern[],
  args: readonly KnownWord[],
  used: ReadonlySet<number>,
  { takes = '', groups, aliases = {}, abbreviates }: Spellings,
): { caught: Caught; end: number } {
  let caught: Caught = 'yes';
  let at = 0;
  let mayBeValue = false;
  for (const { matches, literal } of plain) {
    for (; ; at++) {
      const word = args[at];
      if (word === undefined) return { caught: 'no', end: at };
      if (word === null) return { caught: 'maybe', end: at };
      if (matches(word) || (literal !== undefined && isListed(word, aliases[literal]))) break;
      if (abbreviates && word.length > 1 && literal?.startsWith(word)) {
        caught = 'maybe';
        break;
      }
      if (isOption(word)) {
        const isTaking = isListed(word, takes);
        if (isTaking && args[at + 1] === null) return { caught: 'maybe', end: at };
        if (isTaking) at++;
        mayBeValue = !isTaking && !word.includes('=') && !used.has(at);
      } else if (isListed(word, groups)) {
        if (word !== 'container') caught = 'maybe';
      } else if (mayBeValue) {
        mayBeValue = false;
        caught = 'maybe';
      } else if (!used.has(at)) return { caught: 'no', end: at };
    }
    at++;
    mayBeValue = false;
  }
  return { caught, end: at };
}

function isOption(word: string): boolean {
  return /^[-+]/.test(word);
}
