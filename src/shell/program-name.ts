import { posix } from 'node:path';

const SYSTEM_FOLDERS = /^\/(usr\/(local\/)?)?s?bin\/([^/]+)$/;

/** `/usr/bin/ls` is `ls`; any other path is itself, and so known to nobody. */
export function programName(word: string): string {
  return SYSTEM_FOLDERS.exec(goesUp(word) ? word : posix.normalize(word))?.[3] ?? word;
}

/** What it would be if no folder on the way were a link, where that is a program of the system. */
export function programSeeming(word: string): string | undefined {
  return goesUp(word) ? SYSTEM_FOLDERS.exec(posix.normalize(word))?.[3] : undefined;
}

/** A folder may be a link, and `..` behind it leads to where nobody knows. */
function goesUp(word: string): boolean {
  return word.split('/').includes('..');
}
