import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { markedProcesses } from './check-asserts.ts';

/** Looks at the arguments of every process of the machine until the work is over, as any user could. */
export async function watchArguments<T>(
  work: Promise<T>,
  { mark, secret }: { mark: string; secret: string },
): Promise<{ result: T; finding: string | null }> {
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  let holder: string | undefined;
  let hasRun = false;
  while (!isOver && holder === undefined) {
    hasRun ||= markedProcesses(mark).length > 0;
    holder = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && argumentsOf(pid).includes(secret));
    await sleep(10);
  }
  const result = await done;
  if (holder !== undefined) return { result, finding: `it stands in the arguments of process ${holder}` };
  return { result, finding: hasRun ? null : 'it was not seen to run' };
}

function argumentsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    return '';
  }
}
