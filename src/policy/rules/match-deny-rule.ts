import { gitSubcommandAt, isListed, type Spellings, SUBCOMMANDS_OF_GIT, spellingsOf } from '../../shell/spellings.ts';
import { type MatchCertainty, strongest, weakest } from './match-certainty.ts';
import { findOption, type NamedOption } from './option-spellings.ts';
import type { KnownWord, WordPattern } from './word-pattern.ts';

/**
 * Whether a command is the one that an ask or deny rule means, however it is spelled: plain words count in their order,
 * options in any position, and neither the folder of the program nor other options in between hide them.
 */
export function matchRestrictedCommand(
  /** `open`: further words may follow. */
  { fixed, open }: { fixed: readonly WordPattern[]; open: boolean },
  given: readonly KnownWord[],
): MatchCertainty {
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
    args.some((arg) => /^(-c|--config-env=)?alias\./i.test(arg ?? '')) || (program === 'git' && mayBeAlias(args));
  const certainty = matchReading({ ...readRule(rest, spellings), open }, args, spellings);
  return strongest(certainty, renamed ? 'maybe' : 'no');
}

/** Whether the subcommand is none of git's own: a configuration may then give it any meaning. */
function mayBeAlias(args: readonly KnownWord[]): boolean {
  const subcommand = args[gitSubcommandAt(args)];
  return subcommand !== undefined && subcommand !== null && !SUBCOMMANDS_OF_GIT.has(subcommand);
}

interface RuleReading {
  readonly plain: readonly WordPattern[];
  readonly options: readonly NamedOption[];
}

/** The word behind an option may be its value or a word by itself: it counts wherever it stands. */
function readRule(fixed: readonly WordPattern[], { groups }: Spellings): RuleReading {
  const plain: WordPattern[] = [];
  const options: NamedOption[] = [];
  for (const [at, word] of fixed.entries()) {
    const value = fixed[at + 1];
    if (word.isOption) options.push({ option: word, ...(value && !value.isOption && { value }) });
    else if (!fixed[at - 1]?.isOption && !(word.literal !== undefined && isListed(word.literal, groups)))
      plain.push(word);
  }
  return { plain, options };
}

function matchReading(
  { plain, options, open }: RuleReading & { open: boolean },
  args: readonly KnownWord[],
  spellings: Spellings,
): MatchCertainty {
  const used = new Set<number>();
  let caught: MatchCertainty = 'yes';
  for (const option of options) {
    const found = findOption(option, args, spellings);
    for (const at of found.at) used.add(at);
    caught = weakest(caught, found.certainty);
  }
  const walked = matchPlainWords(plain, { args, used }, spellings);
  caught = weakest(caught, walked.caught);
  if (open || caught === 'no') return caught;
  const last = Math.max(walked.end - 1, ...used);
  const left = args.filter((_, at) => at >= walked.end && !used.has(at)).filter((word) => word !== null);
  const isMore = left.some((word) => !isOption(word)) || args.slice(last + 1).some((word) => word !== null);
  if (isMore) return 'no';
  return args.slice(walked.end).includes(null) ? 'maybe' : caught;
}

/** Matches the plain words of a rule in order. Only options and words that may be their values can stand in between. */
function matchPlainWords(
  plain: readonly WordPattern[],
  { args, used }: { args: readonly KnownWord[]; used: ReadonlySet<number> },
  { takes = '', groups, aliases = {}, abbreviates }: Spellings,
): { caught: MatchCertainty; end: number } {
  let caught: MatchCertainty = 'yes';
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
