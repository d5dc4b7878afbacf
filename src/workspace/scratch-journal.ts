import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore } from '../kernel/ports.ts';
import { fail, ok } from '../kernel/result.ts';
import { Journal } from './journal.ts';

/** For one set of changes: what it replaced is kept until all of them are made, and then forgotten. */
export function scratchJournal(): { journal: Journal; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-set-'));
  const journal = new Journal({ folder, blobs: inMemory(), lasts: false });
  return {
    journal,
    remove() {
      journal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function inMemory(): BlobStore {
  const kept: Uint8Array[] = [];
  return {
    put: (bytes) => String(kept.push(bytes) - 1),
    get(handle) {
      const bytes = kept[Number(handle)];
      return bytes === undefined ? fail('FILE_NOT_FOUND', 'It is no longer kept.') : ok(bytes);
    },
  };
}
