import type { ChildProcess } from 'node:child_process';
import { type Stats, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../../host/errno.ts';
import { readStatus } from './namespace-tree.ts';

const LOOK_MS = 1;
/** A thousand masks take some seconds. */
const LONGEST_SETUP_MS = 60_000;

const UNSEEN =
  'What the sandbox mounted could not be looked at, so the command did not run. See that /proc can be read.';

/** The first process, once all is mounted; `ended` for a bubblewrap that ended by itself, which says elsewhere why. */
export type MountedProcess = { readonly firstPid: number } | { readonly failed: string } | 'ended';

/**
 * Waits until bubblewrap has mounted everything and blocks. `etc` is the folder that it mounts as /etc, which no other
 * process has.
 */
export async function waitForMounts(monitor: ChildProcess, status: number, etc: string): Promise<MountedProcess> {
  const own = statSync(etc);
  const until = performance.now() + LONGEST_SETUP_MS;
  while (performance.now() < until) {
    const { firstPid } = readStatus(status);
    if (firstPid !== null && isSame(inside(firstPid, '/etc'), own)) return { firstPid };
    if (monitor.exitCode !== null || monitor.signalCode !== null) return 'ended';
    await sleep(LOOK_MS);
  }
  return { failed: UNSEEN };
}

/** The path of a file as a process sees it. */
export function pathInside(pid: number, path: string): string {
  return `/proc/${pid}/root${path}`;
}

/** Undefined while it is not there, and when the process has ended. */
function inside(pid: number, path: string): Stats | undefined {
  try {
    return statSync(pathInside(pid, path));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

function isSame(one: Stats | undefined, other: Stats): boolean {
  return one?.dev === other.dev && one.ino === other.ino;
}
