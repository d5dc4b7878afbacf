/** What may come next in a path: this character, or one of these ways to go on. */
type Step = string;

/**
 * Whether a path is what a glob of `globSource` stands for. All ways are followed at once, character by character: a regular
 * expression tries them one after the other, and for several `**` these are more than anybody waits for.
 */
export function pathMatcher(pattern: string): (path: string) => boolean {
  const steps = stepsOf(pattern);
  return (path) => {
    let at = reached(steps, [0]);
    for (const character of path.split('')) {
      if (at.size === 0) return false;
      at = reached(
        steps,
        [...at].flatMap((step) => after(steps, step, character)),
      );
    }
    return at.has(steps.length);
  };
}

const TOKENS = /\*\*\/|\/\*\*|\*\*|./gs;

function stepsOf(pattern: string): readonly Step[] {
  return (pattern.match(TOKENS) ?? []).flatMap((token): Step[] => {
    if (token === '**/') return ['folders', 'in folder'];
    if (token === '/**') return ['/', 'one', 'any'];
    if (token === '**') return ['any'];
    if (token === '*') return ['names'];
    return [token];
  });
}

/** These steps and those that follow when nothing more comes for one. */
function reached(steps: readonly Step[], from: readonly number[]): ReadonlySet<number> {
  const all = new Set(from);
  for (const at of all) {
    const step = steps[at];
    if (step === 'any' || step === 'names') all.add(at + 1);
    if (step === 'folders') all.add(at + 2);
  }
  return all;
}

/** Where a character leads from a step. */
function after(steps: readonly Step[], at: number, character: string): readonly number[] {
  const step = steps[at];
  const isName = character !== '/';
  if (step === 'any') return [at];
  if (step === 'one') return [at + 1];
  if (step === 'names') return isName ? [at] : [];
  if (step === 'folders') return isName ? [at + 1] : [];
  if (step === 'in folder') return [isName ? at : at - 1];
  return (step === '?' && isName) || (step !== '?' && step === character) ? [at + 1] : [];
}
