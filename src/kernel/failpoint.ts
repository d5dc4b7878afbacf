/**
 * Points where a test may end the process: before and after each commit, rename and spawn. A build that defines
 * TOOLWRIGHT_RELEASE contains none of them: the condition is constant and the calls are empty.
 */
declare const TOOLWRIGHT_RELEASE: boolean | undefined;

const armable = typeof TOOLWRIGHT_RELEASE === 'undefined' || !TOOLWRIGHT_RELEASE;

let reached: ((name: string) => void) | undefined;

export function failpoint(name: string): void {
  if (armable && reached !== undefined) reached(name);
}

/** Calls `action` with the name of every failpoint that is passed, until the returned function is called. For tests. */
export function armFailpoints(action: (name: string) => void): () => void {
  if (armable) reached = action;
  return () => {
    reached = undefined;
  };
}
