import { type Dirent, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';

/** Where package managers keep what they log in with, below the folder of an interpreter. */
const SECRET_NAME = /^(\.?npmrc|\.yarnrc\.yml|\.netrc|\.pypirc|\.git-credentials|credentials(\.\w+)?)$/;
/** Needed to find packages at all, and with a secret in it only sometimes. */
const SETTINGS_NAME = /^\.?condarc$/;
const SECRET_TEXT = /\/t\/|:\/\/[^\s/]*@|token|passw|auth/i;

/** As deep as volta keeps the npmrc of a version of Node. Not where packages are, which hold no secrets of yours. */
const DEEPEST = 5;
const WITH_PACKAGES =
  /^(node_modules|s?bin|lib(32|64|exec)?|share|include|man|doc|pkgs|store|src|pkg|conda-meta|\.git|jmods|cache)$/;
/** A folder of a version manager has some hundred folders above those with packages. */
const MOST_FOLDERS = 5_000;

/** Files with credentials below a folder of programs; of links, what they lead to, wherever that is. */
export function credentialsIn(root: string): string[] {
  const found: string[] = [];
  const queue = [{ folder: root, depth: 0 }];
  for (let looked = 0; looked < MOST_FOLDERS; looked++) {
    const next = queue.shift();
    if (next === undefined) break;
    for (const entry of entriesOf(next.folder)) {
      const path = `${next.folder}/${entry.name}`;
      if (entry.isDirectory()) {
        if (next.depth < DEEPEST && !WITH_PACKAGES.test(entry.name))
          queue.push({ folder: path, depth: next.depth + 1 });
      } else if (SECRET_NAME.test(entry.name) || (SETTINGS_NAME.test(entry.name) && holdsSecret(path))) {
        const target = entry.isSymbolicLink() ? realPath(path) : path;
        if (target !== null) found.push(target);
      }
    }
  }
  return found;
}

function entriesOf(folder: string): Dirent[] {
  if (WITH_PACKAGES.test(basename(folder))) return [];
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // A file, or nothing that we may list: then a run, which is no more than we are, may not either.
    return [];
  }
}

function holdsSecret(path: string): boolean {
  try {
    return SECRET_TEXT.test(readFileSync(path, 'utf8'));
  } catch {
    return true;
  }
}

/** Null for a link that leads nowhere. */
function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
