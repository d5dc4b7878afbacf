import { type Context, createContext, Script } from 'node:vm';

/** Limit of one check. Compiling a schema happens once, loads the library, and must not fail on a busy machine. */
const CHECK_MS = 500;
export const READ_MS = 5000;

let context: Context | undefined;
const script = new Script('work()');

/**
 * Returns the result of `work`, or undefined when it took too long. For work of a length chosen elsewhere: a pattern
 * such
 * as `(a+)+` takes years and blocks the process. Only a script's time limit stops a regular expression; it applies to
 * everything the script calls, so `work` itself is ordinary code. It costs about 0.1 ms.
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
