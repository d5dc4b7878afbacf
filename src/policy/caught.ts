/**
 * Whether a command is what a rule holds back. `maybe`: it depends on what is known only at run time, or on what we do not
 * know of the program.
 */
export type Caught = 'yes' | 'maybe' | 'no';

const STRENGTH: readonly Caught[] = ['no', 'maybe', 'yes'];

export function strongest(a: Caught, b: Caught): Caught {
  return STRENGTH.indexOf(a) > STRENGTH.indexOf(b) ? a : b;
}

export function weakest(a: Caught, b: Caught): Caught {
  return STRENGTH.indexOf(a) < STRENGTH.indexOf(b) ? a : b;
}
