import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { entriesIn, realPath, statOf } from '../host/files.ts';

/** Files in which package managers keep their credentials, below the folder of an interpreter. */
const SECRET_NAME = /^(\.netrc|\.pypirc|\.git-credentials|credentials(\.(toml|json|ya?ml|ini))?)$/;
/** Settings that are needed to find packages, and hold a secret only sometimes. */
const SETTINGS_NAME = /^(\.?condarc|\.?npmrc|\.yarnrc\.yml|pip\.conf|\.?gemrc)$/;
const SECRET_TEXT = /\/t\/|:\/\/[^\s/]*@|token|passw|auth|api_key|private key/i;

/** As deep as volta keeps the npmrc of a Node version. Folders with packages are left out: they hold no secrets of the user. */
const MAX_DEPTH = 5;
const WITH_PACKAGES =
  /^(node_modules|s?bin|lib(32|64|exec)?|share|include|man|doc|pkgs|store|src|pkg|conda-meta|\.git|jmods|cache)$/;
/** A version manager has some hundred folders above those with packages. */
const MAX_FOLDERS = 5_000;

/** Finds files and symlinks below a folder of programs that may hold credentials, by their names. */
export function findCredentialFiles(root: string): string[] {
  const found: string[] = [];
  if (WITH_PACKAGES.test(basename(root))) return found;
  const queue = [{ folder: root, depth: 0 }];
  for (let looked = 0; looked < MAX_FOLDERS; looked++) {
    const next = queue.shift();
    if (next === undefined) break;
    for (const entry of entriesIn(next.folder)) {
      const path = `${next.folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (next.depth < MAX_DEPTH && !WITH_PACKAGES.test(entry.name))
          queue.push({ folder: path, depth: next.depth + 1 });
      } else if (SECRET_NAME.test(entry.name) || SETTINGS_NAME.test(entry.name)) found.push(path);
    }
  }
  return found;
}

/** The file to hide for one of those paths as it is now: for a symlink its target, wherever that is. Null when there is none. */
export function fileToHide(path: string): string | null {
  const target = statOf(path)?.isSymbolicLink() ? realPath(path) : path;
  if (target === null || !statOf(target)?.isFile()) return null;
  return SETTINGS_NAME.test(basename(path)) && !holdsSecret(path) ? null : target;
}

function holdsSecret(path: string): boolean {
  try {
    return SECRET_TEXT.test(readFileSync(path, 'utf8'));
  } catch {
    return true;
  }
}
