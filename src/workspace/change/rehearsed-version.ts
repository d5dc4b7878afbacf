import { closeSync, readlinkSync } from 'node:fs';
import { digestTree } from '../../host/digest-tree.ts';
import { digestOfFile, versionOf } from '../../host/file-version.ts';
import { MAX_WHOLE_BYTES, openFile } from '../../host/open-file.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';

/** Returns the version of whatever is at a path, so that a later change of it is noticed. A symlink is not followed. */
export async function rehearsedVersion(spot: ResolvedPath): Promise<string> {
  const { stat, folder, name } = spot;
  if (stat === null) return 'absent';
  if (stat.isSymbolicLink()) return `symlink to ${readlinkSync(folder.at(name))}`;
  if (stat.isDirectory()) return (await digestTree(folder.at(name))).digest;
  // A huge file is known by its times: hashing it would keep a person waiting.
  const times = `${stat.size} bytes of ${stat.mtimeMs}, ${stat.ctimeMs}`;
  if (!stat.isFile() || stat.size > MAX_WHOLE_BYTES) return times;
  const file = openFile(spot);
  if (!file.ok) return times;
  try {
    return versionOf(await digestOfFile(file.value.fd));
  } finally {
    closeSync(file.value.fd);
  }
}
