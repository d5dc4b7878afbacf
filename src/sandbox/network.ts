import type { ChildProcess } from 'node:child_process';
import type { Dialer } from '../kernel/dialer.ts';
import type { Result } from '../kernel/result.ts';
import type { NetworkUse, RunRequest } from '../kernel/sandbox.ts';

export interface SandboxNetwork {
  /** bubblewrap reads it before it starts the command. */
  readonly blockFd: number;
  attach(firstPid: () => number | null, child: ChildProcess): void;
  failure(): Result<never> | null;
  uses(): readonly NetworkUse[];
  close(): void;
}

export function openNetwork(_request: RunRequest, _dialer: Dialer | undefined, _folder: string): SandboxNetwork {
  throw new Error('not yet');
}
