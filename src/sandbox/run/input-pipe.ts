import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { allPids } from '../../host/proc.ts';
import type { InputPipe } from '../../kernel/world/sandbox.ts';
import type { PipePool } from './pipes.ts';

/** Writes to the stdin of a run. The run opens `path`; the code that ends the run ends this too. */
export interface LiveInput extends InputPipe {
  /** Names the read end while this process lives. */
  readonly path: string;
  end(): void;
}

export function createLiveInput(pipes: PipePool): LiveInput {
  const { readEnd, writeEnd } = pipes.takeInput();
  const identity = fstatSync(readEnd);
  const socket = new Socket({ fd: writeEnd, readable: false, writable: true });
  socket.on('error', () => socket.destroy());
  // An unused input must not keep the program alive.
  socket.unref();
  let ended = false;

  return {
    path: process.platform === 'linux' ? `/proc/${process.pid}/fd/${readEnd}` : `/dev/fd/${readEnd}`,
    get waitingBytes() {
      return socket.writableLength;
    },
    write(text) {
      if (ended || !socket.writable) return false;
      socket.write(text);
      return true;
    },
    close: () => socket.end(() => socket.destroy()),
    isAwaited: () => isAwaited(identity.dev, identity.ino),
    end() {
      if (ended) return;
      ended = true;
      socket.destroy();
      closeSync(readEnd);
    },
  };
}

/** A descriptor for a child that inherits it instead of opening the path; it blocks, as programs expect of their stdin. */
export function readEndOf(input: LiveInput): number {
  return openSync(input.path, constants.O_RDONLY);
}

/** Whether a process with this pipe as its stdin waits in a read. */
function isAwaited(dev: number, ino: number): boolean | null {
  let known = false;
  for (const pid of allPids()) {
    try {
      const stdin = statSync(`/proc/${pid}/fd/0`);
      if (stdin.dev !== dev || stdin.ino !== ino) continue;
      const place = readFileSync(`/proc/${pid}/wchan`, 'utf8');
      if (/pipe_read/.test(place)) return true;
      if (place !== '0') known = true;
    } catch {
      // Ended, or not readable for this user.
    }
  }
  return known ? false : null;
}
