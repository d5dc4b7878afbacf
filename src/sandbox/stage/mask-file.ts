import { chmodSync, type Stats, truncateSync, utimesSync, writeFileSync } from 'node:fs';

const MAY_RUN = 0o111;
/** A larger file is not looked at by git on every status, and a run that moves its mask copies this much. */
const MAX_SIZE = 16 * 1024 * 1024;

/** Makes the file that lies over a hidden path: it has no content, and nobody may read or write it. */
export function makeMask(at: string | Buffer): void {
  writeFileSync(at, '', { mode: 0o000, flag: 'wx' });
}

/**
 * Gives a mask the size and the time of the file below it. Git, which goes by both, then takes a tracked file for unchanged and does not
 * open it.
 */
export function copyMaskLook(mask: string | Buffer, stat: Stats): void {
  if (!stat.isFile()) return;
  // Its owner alone could read it meanwhile, and there is nothing in it.
  chmodSync(mask, 0o600);
  truncateSync(mask, stat.size <= MAX_SIZE ? stat.size : 0);
  chmodSync(mask, stat.mode & MAY_RUN);
  utimesSync(mask, stat.atimeMs / 1000, stat.mtimeMs / 1000);
}

/** The look that a mask has of its file: with another one it is out of date. */
export function maskLookOf(stat: Stats): string {
  return stat.isFile() ? `${stat.size}:${stat.mtimeMs}:${stat.mode & MAY_RUN}` : '';
}
