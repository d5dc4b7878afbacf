import type { Objection } from './judge-file.ts';

/**
 * How much runs without a question.
 *   plan    only what reads, asked about like in ask; the rest is refused
 *   ask     what reads, new files and listed things; the rest is asked about
 *   auto    whatever the sandbox contains; asks only where nobody can tell what would happen
 *   strict  what reads, new files and listed things, of commands only listed ones; the rest is refused, nobody is asked
 */
export const MODES = ['plan', 'ask', 'auto', 'strict'] as const;
export type Mode = (typeof MODES)[number];

/** What becomes of a question in this mode. Refusals stay refusals in every mode. */
export function inMode(mode: Mode, objection: Objection): Objection {
  if (objection.verdict === 'deny') return objection;
  if (mode === 'plan' && objection.changes) return refused(objection, 'Mode plan only reads');
  if (objection.verdict === 'allow') return objection;
  if (mode === 'strict') return refused(objection, 'Mode strict allows only what is on its list');
  if (mode === 'auto' && objection.liftable) return { ...objection, verdict: 'allow', rule: 'mode auto' };
  return objection;
}

function refused(objection: Objection, why: string): Objection {
  return { ...objection, verdict: 'deny', reason: `${why}. ${objection.reason}` };
}
