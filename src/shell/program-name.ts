import { posix } from 'node:path';

const SYSTEM_FOLDERS = /^\/(usr\/(local\/)?)?s?bin\/([^/]+)$/;

/** Returns `ls` for `/usr/bin/ls`; any other path is returned as it is, and no table knows it. */
export function programName(word: string): string {
  return SYSTEM_FOLDERS.exec(goesUp(word) ? word : posix.normalize(word))?.[3] ?? word;
}

/** The system program that a path with `..` names if no folder on the way is a symlink. */
export function apparentProgram(word: string): string | undefined {
  return goesUp(word) ? SYSTEM_FOLDERS.exec(posix.normalize(word))?.[3] : undefined;
}

/** A folder may be a symlink, and `..` behind it then leads to an unknown folder. */
function goesUp(word: string): boolean {
  return word.split('/').includes('..');
}
