import type { Vault } from '../kernel/ports.ts';

/** For a store that ends with its process, or a process that does not care: what is in it is gone with it. */
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
