import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { entriesIn } from '../../src/host/files.ts';

const MB = 1024 * 1024;
/** The default limits of a run are 2 GB in all and 1 GB in one file. */
const MAX_LEFT_MB = 3 * 1024;

/** Null when the files below a folder take no more of the disk than one run may. */
export function diskUseFinding(folder: string): string | null {
  const megabytes = Math.round(allocatedBytes(folder) / MB);
  return megabytes > MAX_LEFT_MB ? `${megabytes} MB are allocated` : null;
}

/** The masks of a sandbox cannot be looked into, and take no room. */
function allocatedBytes(folder: string): number {
  return entriesIn(folder).reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return sum + allocatedBytes(path);
    return entry.isFile() ? sum + lstatSync(path).blocks * 512 : sum;
  }, 0);
}
