import type { GuessKind } from '../../shell/wrapped-command.ts';
import {
  CATASTROPHE,
  type CommandPart,
  ENVIRONMENT,
  NOT_UNDERSTOOD,
  OUTSIDE,
  REFUSED,
  SENSITIVE,
} from './command-judgement.ts';

const ORDINARY_QUESTIONS = [ENVIRONMENT, NOT_UNDERSTOOD];
/** A path below a top-level folder. On another machine its loss may be harmless, while the loss of a whole machine never is. */
const NAMES_A_PLACE = /(^|\s)\/[^\s/]+\/[^\s]/;

/** Returns the parts of a guess that count: refusals, and questions that are not ordinary. */
export function weighGuess(parts: readonly CommandPart[], guess: GuessKind): CommandPart[] {
  return parts.filter(isHeldBack).flatMap((part) => weighed({ ...part, isGuess: true }, guess));
}

function isHeldBack({ verdict, rule }: CommandPart): boolean {
  return verdict === 'deny' || (verdict === 'ask' && !ORDINARY_QUESTIONS.includes(rule));
}

/** Adjusts a part by where it would happen: paths on another machine are not the user's, and a mentioned text need not run. */
function weighed(part: CommandPart, guess: GuessKind): CommandPart[] {
  const why = part.reason.replace(REFUSED, '');
  // Whoever runs it there, or runs text of a program, finds the network that this command was given.
  if (guess !== 'here' && part.isOutside && part.loses === undefined) return [];
  if (guess === 'mentioned') return [{ ...part, verdict: 'ask', reason: `If the text in it is run: ${why}` }];
  if (guess !== 'elsewhere') return [part];
  if (part.rule === SENSITIVE || part.rule === OUTSIDE) return [];
  if (part.rule !== CATASTROPHE || !NAMES_A_PLACE.test(why)) return [part];
  return [{ ...part, verdict: 'ask', reason: `On another machine or in a container: ${why}` }];
}
