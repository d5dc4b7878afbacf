import type { Ledger } from '../kernel/call/ledger.ts';
import type { BlobStore } from '../kernel/ports.ts';

/** A store and the blobs it keeps its large payloads in. Closing the store is enough. */
export interface OpenStore {
  readonly store: Ledger;
  readonly blobs: BlobStore;
}
