import { mkdtempSync, readdirSync, realpathSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { statOf } from '../host/files.ts';
import { OWN_PROCESS_ID, OWNED_NAME, stateOfProcess } from '../host/process-identity.ts';
import { removeTree } from '../host/remove-tree.ts';
import type { SandboxKind } from '../kernel/world/sandbox.ts';

/** A folder of this process in the state folder. The next process removes it if this one cannot. */
export interface OwnedFolder {
  readonly path: string;
  remove(): void;
}

/** After this time a folder counts as left over where it is unknown whether its process still runs, as on another machine with the same home or in another container. */
const UNTOUCHED_MS = 7 * 24 * 60 * 60 * 1000;
const TOUCH_MS = 60 * 60 * 1000;
const PREFIX = /^toolwright-[a-z]+-/;

/** Creates the folder, after removing those that other processes left. */
export function createOwnedFolder(parent: string, kind: 'sandbox' | SandboxKind): OwnedFolder {
  removeLeftovers(parent);
  const path = realpathSync(mkdtempSync(join(parent, `toolwright-${kind}-${OWN_PROCESS_ID}-`)));
  const touching = setInterval(() => touch(path), TOUCH_MS);
  touching.unref();
  function remove(): void {
    clearInterval(touching);
    process.off('exit', remove);
    removeTree(path);
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
      removeTree(join(parent, name));
    } catch {
      // It belongs to another user.
    }
  }
}

function isLeft(owner: string, path: string): boolean {
  const state = stateOfProcess(owner);
  if (state !== 'unknown') return state === 'gone';
  const touchedMs = statOf(path)?.mtimeMs;
  return touchedMs !== undefined && Date.now() - touchedMs > UNTOUCHED_MS;
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // It was removed: the next run reports that.
  }
}
