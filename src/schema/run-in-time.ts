import { type Context, createContext, Script } from 'node:vm';

/** A check. Reading a schema happens once, loads the library, and must not fail on a machine that is busy. */
const CHECK_MS = 500;
export const READ_MS = 5000;

let context: Context | undefined;
const script = new Script('work()');

/**
 * What `work` returns, or undefined when it took too long. For work whose length somebody else chose: a pattern such as
 * `(a+)+` takes years, and nothing else in the process would run meanwhile. Only a script's time limit stops a regular
 * expression; it holds for all that the script calls, so `work` itself is ordinary code. It costs about 0.1 ms.
 */
export function inTime<T>(work: () => T, longestMs = CHECK_MS): T | undefined {
  let value: T | undefined;
  context ??= createContext({});
  context['work'] = () => {
    value = work();
  };
  try {
    script.runInContext(context, { timeout: longestMs });
    return value;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}
