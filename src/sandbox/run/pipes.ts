import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Both ends of one pipe, owned by the caller until they are closed or passed on. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

export interface PipePool {
  take(): Pipe;
  /** A pipe for an input: where descriptors cannot be reopened, a child gets this read end, and it must block. */
  takeInput(): Pipe;
  close(): void;
}

const BATCH = 16;
/** On Linux, opening a descriptor through /proc gives a new one with its own flags; elsewhere it is a duplicate. */
const HAS_PROC = process.platform === 'linux';

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
    try {
      for (const path of paths) ready.push(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    } finally {
      for (const path of paths) unlinkSync(path);
    }
  }

  function take(reading: number): Pipe {
    if (!HAS_PROC) return fresh(join(folder, `pipe-${made++}`), reading);
    if (ready.length === 0) refill();
    const both = ready.pop();
    if (both === undefined) throw new Error('mkfifo made no pipe');
    try {
      return bothEnds(`/proc/self/fd/${both}`, reading);
    } finally {
      closeSync(both);
    }
  }

  return {
    take: () => take(constants.O_NONBLOCK),
    takeInput: () => take(0),
    close() {
      for (const fd of ready.splice(0)) closeSync(fd);
    },
  };
}

function fresh(path: string, reading: number): Pipe {
  execFileSync('mkfifo', ['-m', '600', path], { stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } });
  // Kept open meanwhile, so that opening one end does not wait for the other.
  const both = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  try {
    return bothEnds(path, reading);
  } finally {
    closeSync(both);
    unlinkSync(path);
  }
}

function bothEnds(path: string, reading: number): Pipe {
  const readEnd = openSync(path, constants.O_RDONLY | reading);
  try {
    return { readEnd, writeEnd: openSync(path, constants.O_WRONLY) };
  } catch (error) {
    closeSync(readEnd);
    throw error;
  }
}
