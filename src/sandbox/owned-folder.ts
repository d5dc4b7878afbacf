import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxKind } from '../kernel/sandbox.ts';
import { isOwnerGone, OWNED_NAME, OWNER_ID } from './owner.ts';
import { removeRecorded } from './placeholders.ts';

/** A folder of this process in the state folder, which whoever comes next removes if this process cannot. */
export interface OwnedFolder {
  readonly path: string;
  remove(): void;
}

const PREFIX = /^toolwright-[a-z]+-/;

/** Removes what others left first. */
export function createOwnedFolder(parent: string, kind: 'sandbox' | SandboxKind): OwnedFolder {
  removeLeftovers(parent);
  const path = realpathSync(mkdtempSync(join(parent, `toolwright-${kind}-${OWNER_ID}-`)));
  function remove(): void {
    process.off('exit', remove);
    rmSync(path, { recursive: true, force: true });
  }
  process.on('exit', remove);
  return { path, remove };
}

/** Folders of processes that were killed before they could tidy up. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const owner = PREFIX.test(name) ? OWNED_NAME.exec(name.replace(PREFIX, ''))?.[1] : undefined;
    if (owner === undefined || !isOwnerGone(owner)) continue;
    try {
      removeRecorded(join(parent, name));
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's: not ours to remove.
    }
  }
}
