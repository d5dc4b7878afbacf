import type { AccessJudgement } from './access-judgement.ts';

/**
 * How much runs without approval.
 *   plan    reads, and commands whose changes are discarded; the rest is refused
 *   ask     reads, new files, moves to free names, commands without effects outside, and allowed uses run; the rest needs approval
 *   auto    everything that the sandbox contains runs; approval is needed only where the effect is unknown or lasting
 *   strict  reads, new files and allowed uses run, commands only when they are allowed; the rest is refused without asking
 */
export const MODES = ['plan', 'ask', 'auto', 'strict'] as const;
export type Mode = (typeof MODES)[number];

/** Applies the mode to a judgement. A refusal stays a refusal in every mode. */
export function applyMode(mode: Mode, objection: AccessJudgement): AccessJudgement {
  if (objection.verdict === 'deny') return objection;
  if (mode === 'plan' && objection.changes) return refused(objection, 'Mode plan only reads');
  if (objection.verdict === 'allow') return objection;
  if (mode === 'strict') return refused(objection, 'Mode strict allows only listed calls');
  const isLifted = mode === 'auto' ? objection.liftable : objection.losesNothing;
  return isLifted ? { ...objection, verdict: 'allow', rule: `mode ${mode}` } : objection;
}

function refused(objection: AccessJudgement, why: string): AccessJudgement {
  return { ...objection, verdict: 'deny', byMode: true, reason: `${why}. ${objection.reason}` };
}

/** Denies an absolute path, which rules about a workspace do not name. Any other denial stays as it is. */
export function requireRelative(path: string, judged: AccessJudgement): AccessJudgement {
  if (!path.startsWith('/') || judged.verdict === 'deny') return judged;
  return absolutePath(judged.what, path);
}

export function absolutePath(what: string, path: string): AccessJudgement {
  const reason = `Access denied: mode strict takes no absolute paths. Write the path relative to the workspace root instead of ${path.slice(0, 200)}.`;
  const refusal = { verdict: 'deny', rule: 'absolute path', byMode: true, code: 'INVALID_PATH' } as const;
  return { what, ...refusal, reason, liftable: false, changes: false };
}
