import type { Ledger } from '../kernel/call/ledger.ts';
import type { BlobStore } from '../kernel/ports.ts';

/** A store and the blobs that hold its large payloads. Closing the store closes both. */
export interface OpenStore {
  readonly store: Ledger;
  readonly blobs: BlobStore;
}
