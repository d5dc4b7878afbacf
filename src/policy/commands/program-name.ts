import { posix } from 'node:path';

const SYSTEM_FOLDERS = /^\/(usr\/(local\/)?)?s?bin\/([^/]+)$/;

/** `/usr/bin/ls` is `ls`; any other path is itself, and so known to nobody. */
export function programName(word: string): string {
  return SYSTEM_FOLDERS.exec(word.startsWith('/') ? posix.normalize(word) : word)?.[3] ?? word;
}
