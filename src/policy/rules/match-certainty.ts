/**
 * Whether a command is the one that an ask or deny rule means. `maybe`: it depends on a value known only at run time, or on
 * options of the program that are not known here.
 */
export type MatchCertainty = 'yes' | 'maybe' | 'no';

const STRENGTH: readonly MatchCertainty[] = ['no', 'maybe', 'yes'];

export function strongest(a: MatchCertainty, b: MatchCertainty): MatchCertainty {
  return STRENGTH.indexOf(a) > STRENGTH.indexOf(b) ? a : b;
}

export function weakest(a: MatchCertainty, b: MatchCertainty): MatchCertainty {
  return STRENGTH.indexOf(a) < STRENGTH.indexOf(b) ? a : b;
}
