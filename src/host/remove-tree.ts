import { chmodSync, type RmOptions, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Removes a folder of ours and all below it. Node 24 opens each folder before it removes it, also an empty one that its
 * owner may not open; so those are opened up first.
 */
export function removeTree(path: string, patience: Pick<RmOptions, 'maxRetries' | 'retryDelay'> = {}): void {
  const options = { recursive: true, force: true, ...patience };
  try {
    rmSync(path, options);
  } catch {
    openUp(path);
    rmSync(path, options);
  }
}

function openUp(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) openUp(join(path, entry.name));
  }
}
