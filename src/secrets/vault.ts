import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Vault } from '../kernel/ports.ts';

/**
 * Files that only this user can read, one for each call whose arguments hold a secret, until the call has ended. They
 * outlive the process, so that a question does. Only this machine has them: elsewhere such a call is not taken over.
 */
export class FileVault implements Vault {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  keep(callId: string, value: object): void {
    const path = this.#pathOf(callId);
    // Of this process: another one may be about to keep something of the same call.
    const beside = `${path}.${process.pid}`;
    writeFileSync(beside, JSON.stringify({ callId, value }), { mode: 0o600 });
    renameSync(beside, path);
  }

  get(callId: string): unknown {
    return read(this.#pathOf(callId))?.value;
  }

  forget(callId: string): void {
    // Also what a process left that ended while it wrote.
    const ours = readdirSync(this.#folder).filter((name) => name.startsWith(nameOf(callId)));
    for (const name of ours) rmSync(join(this.#folder, name), { force: true });
  }

  list(): readonly string[] {
    const found = readdirSync(this.#folder).map((name) => read(join(this.#folder, name))?.callId);
    return found.filter((callId) => callId !== undefined);
  }

  #pathOf(callId: string): string {
    return join(this.#folder, nameOf(callId));
  }
}

function nameOf(callId: string): string {
  return createHash('sha256').update(callId).digest('hex').slice(0, 32);
}

function read(path: string): { callId: string; value: unknown } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // Not there, or somebody else is just writing or forgetting it.
    return undefined;
  }
}
