import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Journal } from './journal/journal.ts';

/** For one set of changes: what it replaced is kept until all of them are made, and then forgotten. */
export function scratchJournal(): { journal: Journal; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'toolwright-set-'));
  const journal = new Journal({ folder, lasts: false });
  return {
    journal,
    remove() {
      // By itself, as it removes what is in read-only folders, too.
      journal.images.prune(0);
      journal.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
