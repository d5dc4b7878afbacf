import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Two ends of one pipe, both ours until they are closed or handed on. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

export interface PipePool {
  take(): Pipe;
  close(): void;
}

const BATCH = 16;

/**
 * Real pipes for the streams of a child. Node gives children socket pairs, and then a script that opens /dev/stdout or
 * /dev/stderr fails. A pipe here is a FIFO without a name: made in batches, since making them takes a process.
 */
export function createPipePool(folder: string): PipePool {
  const ready: number[] = [];
  let made = 0;

  function refill(): void {
    const paths = Array.from({ length: BATCH }, () => join(folder, `pipe-${made++}`));
    execFileSync('mkfifo', ['-m', '600', ...paths], { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } });
    for (const path of paths) {
      ready.push(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
      unlinkSync(path);
    }
  }

  return {
    take() {
      if (ready.length === 0) refill();
      const both = ready.pop();
      if (both === undefined) throw new Error('mkfifo made no pipe');
      try {
        const readEnd = openSync(`/proc/self/fd/${both}`, constants.O_RDONLY | constants.O_NONBLOCK);
        const writeEnd = openSync(`/proc/self/fd/${both}`, constants.O_WRONLY);
        return { readEnd, writeEnd };
      } finally {
        closeSync(both);
      }
    },
    close() {
      for (const fd of ready.splice(0)) closeSync(fd);
    },
  };
}
