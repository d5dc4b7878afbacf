import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const MB = 1024 * 1024;
/** The default limits of a run are 2 GB in all and 1 GB in one file. */
const MAX_LEFT_MB = 3 * 1024;

/** Null when the files below a folder take no more of the disk than one run may. */
export function diskUseFinding(folder: string): string | null {
  const megabytes = Math.round(allocatedBytes(folder) / MB);
  return megabytes > MAX_LEFT_MB ? `${megabytes} MB are allocated` : null;
}

function allocatedBytes(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).blocks * 512, 0);
}
