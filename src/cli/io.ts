import type { Readable, Writable } from 'node:stream';

/** The outside world of the command line, which a test can replace. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  readonly stdout: Writable & { isTTY?: boolean; columns?: number };
  readonly stderr: Writable & { isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calls the listener on each Ctrl-C; returns a function that unsubscribes. */
  onInterrupt(listener: () => void): () => void;
}

/** The terminal this process was started in. */
export function processIo(): Io {
  // The reader of the output has enough, as in `| head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  // A server must not end because its log is no longer read.
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
