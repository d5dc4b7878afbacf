import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeEtc } from './etc.ts';
import { isOwnerGone, OWNED_NAME, OWNER_ID } from './owner.ts';
import { RUNTIME_PREFIX as PREFIX, removeRecorded } from './placeholders.ts';

/** The few files a sandbox needs on the host, in a folder of its own that only its user can enter. */
export interface RuntimeFolder {
  readonly path: string;
  /** Nobody can read these, so a file under one looks forbidden, and not empty. */
  readonly maskFile: string;
  readonly maskFolder: string;
  readonly seccomp: string | null;
  /** A small /etc for the inside. */
  readonly etc: string;
  remove(): void;
}

export async function createRuntimeFolder(
  parent: string,
  given: { uid: number; gid: number; seccomp: Uint8Array | null },
): Promise<RuntimeFolder> {
  removeLeftovers(parent);
  const path = mkdtempSync(join(parent, `${PREFIX}${OWNER_ID}-`));
  const write = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(path, name), content, { mode: 0o600 });
    return join(path, name);
  };
  const folder: RuntimeFolder = {
    path,
    maskFile: write('mask-file', ''),
    maskFolder: join(path, 'mask-folder'),
    seccomp: given.seccomp === null ? null : write('seccomp', given.seccomp),
    etc: join(path, 'etc'),
    remove() {
      process.off('exit', folder.remove);
      rmSync(path, { recursive: true, force: true });
    },
  };
  process.on('exit', folder.remove);
  chmodSync(folder.maskFile, 0o000);
  mkdirSync(folder.maskFolder, { mode: 0o000 });
  await writeEtc(folder.etc, given);
  return folder;
}

/** Folders of processes that were killed before they could tidy up. */
function removeLeftovers(parent: string): void {
  for (const name of readdirSync(parent)) {
    const owner = name.startsWith(PREFIX) ? OWNED_NAME.exec(name.slice(PREFIX.length))?.[1] : undefined;
    if (owner === undefined || !isOwnerGone(owner)) continue;
    try {
      removeRecorded(join(parent, name));
      rmSync(join(parent, name), { recursive: true, force: true });
    } catch {
      // Another user's: not ours to remove.
    }
  }
}
