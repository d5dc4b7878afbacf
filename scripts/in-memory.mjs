// Runs a program with its temporary folder in memory, where the machine lets us.
//
// Most of the tests' time goes into waiting until a disk has what was written. The second run on the oldest Node waits for
// it, which tries its tests on two kinds of file systems; the others need not wait at all.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const MOUNT_AND_RUN = 'mount -t tmpfs -o mode=1777,size=8g tmpfs "$1" || exit 125; shift; exec "$@"';
const ENOUGH_BYTES = 12 * 1024 ** 3;

/** As `spawnSync`. The mount is in a namespace of the program's own, and is gone when that has ended. */
export function spawnInMemory(program, args, options) {
  const folder = mkdtempSync(join(tmpdir(), 'tw-'));
  const run = (command) =>
    spawnSync('unshare', ['--mount', 'sh', '-c', MOUNT_AND_RUN, 'sh', folder, ...command], options);
  try {
    const canMount = process.getuid?.() === 0 && freemem() > ENOUGH_BYTES && run(['true']).status === 0;
    if (!canMount) return spawnSync(program, args, options);
    return run(['env', `TMPDIR=${folder}`, program, ...args]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
