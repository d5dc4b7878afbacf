import { CATASTROPHE, type CommandPart, OUTSIDE, REFUSED, SENSITIVE } from './command-judgement.ts';
import type { Loose } from './inner.ts';

const ORDINARY_QUESTIONS = ['not read-only', 'redirection', 'environment', 'not understood'];
/** Further down than a folder of the root: elsewhere that may be anybody's, while all of a machine is lost on any. */
const NAMES_A_PLACE = /(^|\s)\/[^\s/]+\/[^\s]/;

/** What counts of a guess: what no reading of a command may do. */
export function heldBack(parts: readonly CommandPart[], loose: Loose): CommandPart[] {
  return parts.filter(isHeldBack).flatMap((part) => weighed(part, loose));
}

function isHeldBack({ verdict, rule }: CommandPart): boolean {
  return verdict === 'deny' || (verdict === 'ask' && !ORDINARY_QUESTIONS.includes(rule));
}

/** By where it would happen: paths elsewhere are none of ours, and a text need not run. */
function weighed(part: CommandPart, loose: Loose): CommandPart[] {
  const why = part.reason.replace(REFUSED, '');
  if (loose === 'mentioned') return [{ ...part, verdict: 'ask', reason: `If the text in it is run: ${why}` }];
  if (loose !== 'elsewhere') return [part];
  if (part.rule === SENSITIVE || part.rule === OUTSIDE) return [];
  if (part.rule !== CATASTROPHE || !NAMES_A_PLACE.test(why)) return [part];
  return [{ ...part, verdict: 'ask', reason: `On another machine or in a container: ${why}` }];
}
