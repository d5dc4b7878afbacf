import { closeSync, constants, fchmodSync, fstatSync, openSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { statOf } from '../../host/files.ts';
import { inFolder } from '../../host/read-inside.ts';
import type { QuarantinedFile } from '../../kernel/world/sandbox.ts';
import { createYielder } from '../../kernel/yielding.ts';
import type { Names } from './find-changes.ts';
import type { Swept } from './quarantine-planted.ts';

const PRIVILEGED = 0o6000;
const REASON = 'it would have run with the rights of its owner or group: the mark for that was taken off';

/**
 * Takes the marks off new files that would run with their owner's rights. The filter of system calls lets none be made;
 * this is for the way nobody thought of. Only names that are new are looked at, since others cost a look each.
 */
export async function disarmNewFiles(workspace: string, before: Names, after: Names): Promise<Swept> {
  const quarantined: QuarantinedFile[] = [];
  const left: string[] = [];
  const yielder = createYielder();
  for (const path of newPaths(before, after)) {
    const stat = statOf(`${workspace}/${path}`);
    const isDevice = stat?.isCharacterDevice() === true || stat?.isBlockDevice() === true;
    const isArmed = stat?.isFile() === true && (stat.mode & PRIVILEGED) !== 0;
    if (isArmed && disarm(workspace, path)) quarantined.push({ path, movedTo: path, reason: REASON });
    else if (isArmed || isDevice) left.push(path);
    if (yielder.isDue()) await yielder.pause();
  }
  return { quarantined, left };
}

function* newPaths(before: Names, after: Names): Generator<string> {
  for (const [folder, names] of after) {
    // The scan hands out the same list for a folder that nothing came to.
    const old = before.get(folder);
    if (old === names) continue;
    const known = new Set(old);
    for (const name of names) if (!known.has(name)) yield folder === '' ? name : `${folder}/${name}`;
  }
}

/** By its open file: by name, a link could take its place meanwhile. */
function disarm(workspace: string, path: string): boolean {
  const done = inFolder(workspace, dirname(path), (folder) => {
    const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = openSync(`${folder}/${basename(path)}`, flags);
    try {
      fchmodSync(file, fstatSync(file).mode & 0o1777);
      return [true];
    } finally {
      closeSync(file);
    }
  });
  return done.length > 0;
}
