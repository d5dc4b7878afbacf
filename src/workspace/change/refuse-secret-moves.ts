import { closeSync } from 'node:fs';
import { catchErrnoAsync } from '../../host/errno.ts';
import { type OpenFile, openFile } from '../../host/open-file.ts';
import { shortPath } from '../../host/parse-path.ts';
import type { ResolvedPath } from '../../host/walk-path.ts';
import type { Failure } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { liesUnwalked } from '../../kernel/world/file-policy.ts';
import { createYielder, type Yielder } from '../../kernel/yielding.ts';
import { openWithheld } from '../read/secret-withheld.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

/** So much of a folder is looked into. */
const MAX_FILES = 50_000;
const MAX_BYTES = 1024 * 1024 * 1024;

/**
 * Refuses to move a file whose content is a secret, or a folder with one: the name is part of what makes a content a secret, so under
 * another name, or in a folder that a person freed, tools would read it. `below` are the paths in the folder.
 */
export async function refuseSecretMoves(
  root: WorkspaceRoot,
  from: ResolvedPath,
  below: readonly string[],
): Promise<Result<void>> {
  const yielder = createYielder();
  if (from.stat?.isFile()) return openly(root, from, (file) => refuseSecret(root, from.path, { file, yielder }));
  let [files, bytes] = [0, 0];
  for (const path of below) {
    if (liesUnwalked(path) || root.statUnjudged(path)?.isFile() !== true) continue;
    const spot = root.locate(path, { last: 'keep' });
    if (!spot.ok) return spot;
    const refused = await openly(root, spot.value, async (file) => {
      bytes += file.stat.size;
      return ++files > MAX_FILES || bytes > MAX_BYTES
        ? tooMuch(from.path)
        : refuseSecret(root, path, { file, yielder });
    });
    spot.value.folder.close();
    if (!refused.ok) return inside(from.path, refused.error);
    if (yielder.isDue()) await yielder.pause();
  }
  return ok(undefined);
}

async function refuseSecret(
  root: WorkspaceRoot,
  path: string,
  { file, yielder }: { readonly file: OpenFile; readonly yielder: Yielder },
): Promise<Result<void>> {
  return (await openWithheld(root, path, { file, yielder })) ?? ok(undefined);
}

/** A file of which nobody can tell what it holds is not moved either, except where no secret counts. */
function openly(
  root: WorkspaceRoot,
  spot: ResolvedPath,
  work: (file: OpenFile) => Promise<Result<void>>,
): Promise<Result<void>> {
  return catchErrnoAsync(spot.path, async () => {
    if (root.policy.countedSecrets(spot.path) === 'none') return ok(undefined);
    const file = openFile(spot);
    if (!file.ok) return file;
    try {
      return await work(file.value);
    } finally {
      closeSync(file.value.fd);
    }
  });
}

function inside(path: string, { code, message, details }: Failure): Result<never> {
  return {
    ok: false,
    error: { code, message: `${shortPath(path)} cannot be moved as a whole: ${message}`, ...(details && { details }) },
  };
}

function tooMuch(path: string): Result<never> {
  const what = `${shortPath(path)} is too large to look for secrets in it`;
  return fail('TOO_LARGE', `${what}: move the files and folders in it one by one.`);
}
