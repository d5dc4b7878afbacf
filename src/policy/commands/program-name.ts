import { posix } from 'node:path';

const SYSTEM_FOLDERS = /^\/(usr\/(local\/)?)?s?bin\/([^/]+)$/;

/** `/usr/bin/ls` is `ls`; any other path is itself, and so known to nobody. */
export function programName(word: string): string {
  return SYSTEM_FOLDERS.exec(isOfSystem(word) ? posix.normalize(word) : word)?.[3] ?? word;
}

/** What it would be if no folder on the way were a link, where that is a program of the system. */
export function programSeeming(word: string): string | undefined {
  return word.startsWith('/') && !isOfSystem(word) ? SYSTEM_FOLDERS.exec(posix.normalize(word))?.[3] : undefined;
}

/** Elsewhere a folder may be a link, and `..` behind it leads to where nobody knows. */
function isOfSystem(word: string): boolean {
  return /^\/+(usr|s?bin)\//.test(word);
}
