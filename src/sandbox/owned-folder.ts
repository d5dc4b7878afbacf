import { mkdtempSync, readdirSync, realpathSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import type { SandboxKind } from '../kernel/world/sandbox.ts';
import { statOf } from './inside.ts';
import { OWNED_NAME, OWNER_ID, stateOfOwner } from './owner.ts';
import { removeRecorded } from './protected-paths/placeholders.ts';

/** A folder of this process in the state folder, which whoever comes next removes if this process cannot. */
export interface OwnedFolder {
  readonly path: string;
  remove(): void;
}

/** Another machine with the same home, or another container, cannot be asked whether its process runs. */
const UNTOUCHED_MS = 7 * 24 * 60 * 60 * 1000;
const TOUCH_MS = 60 * 60 * 1000;
const PREFIX = /^toolwright-[a-z]+-/;

/** Removes what others left first. */
export function createOwnedFolder(parent: string, kind: 'sandbox' | SandboxKind): OwnedFolder {
  removeLeftovers(parent);
  const path = realpathSync(mkdtempSync(join(parent, `toolwright-${kind}-${OWNER_ID}-`)));
  const touching = setInterval(() => touch(path), TOUCH_MS);
  touching.unref();
  function remove(): void {
    clearInterval(touching);
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
    if (owner === undefined || !isLeft(owner, join(parent, name))) continue;
    try {
      removeRecorded(join(parent, name));
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's: not ours to remove.
    }
  }
}

function isLeft(owner: string, path: string): boolean {
  const state = stateOfOwner(owner);
  if (state !== 'unknown') return state === 'gone';
  const touchedMs = statOf(path)?.mtimeMs;
  return touchedMs !== undefined && Date.now() - touchedMs > UNTOUCHED_MS;
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Somebody has removed it: the next run says so.
  }
}
