import { hash } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '../host/private-folder.ts';
import type { Vault } from '../kernel/ports.ts';

/** Keeps values in memory: for a store that ends with its process, and where nothing has to outlive the process. */
export class MemoryVault implements Vault {
  readonly #kept = new Map<string, unknown>();

  keep(callId: string, value: object): void {
    this.#kept.set(callId, value);
  }
  get(callId: string): unknown {
    return this.#kept.get(callId);
  }
  forget(callId: string): void {
    this.#kept.delete(callId);
  }
  list(): readonly string[] {
    return [...this.#kept.keys()];
  }
}

/**
 * Keeps values in files that only this user can read, one for each call whose arguments hold a secret, until the call has
 * ended. They outlive the process, so that an open approval does. Only this machine has them: no other machine takes such
 * a call over.
 */
export class FileVault implements Vault {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    makePrivateFolder(folder);
  }

  keep(callId: string, value: object): void {
    const path = this.#pathOf(callId);
    // The name is of this process: another one may be writing a value of the same call.
    const beside = `${path}.${process.pid}`;
    writeFileSync(beside, JSON.stringify({ callId, value }), { mode: 0o600 });
    renameSync(beside, path);
  }

  get(callId: string): unknown {
    return read(this.#pathOf(callId))?.value;
  }

  forget(callId: string): void {
    // Includes the temporary file of a process that ended while it wrote.
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
  return hash('sha256', callId, 'hex').slice(0, 32);
}

function read(path: string): { callId: string; value: unknown } | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    // Not there, or another process is just writing or removing it.
    return undefined;
  }
}
