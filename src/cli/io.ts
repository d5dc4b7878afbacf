import type { Readable, Writable } from 'node:stream';

/** What the command line has of the world, so that a test can give it another one. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calls back on each Ctrl-C while it is listened to; returns how to stop. */
  onInterrupt(listener: () => void): () => void;
}

/** The terminal this process was started in. */
export function processIo(): Io {
  // Whoever read the output has enough, as in `| head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  // Nobody reads the log any more: a server must not end for that.
  process.stderr.on('error', () => {});
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    onInterrupt(listener) {
      process.on('SIGINT', listener);
      return () => process.off('SIGINT', listener);
    },
  };
}
