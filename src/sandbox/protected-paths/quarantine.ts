import { randomBytes } from 'node:crypto';
import { chmodSync, lstatSync, readdirSync, renameSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { statOf } from '../../host/files.ts';
import { isText } from '../../host/read-folder.ts';
import { inFolder } from '../../host/read-inside.ts';
import { failpoint } from '../../kernel/failpoint.ts';

/** A planted path that the host would obey. */
export interface Planted {
  readonly path: string;
  readonly reason: string;
  /** Its path is only nearly right, and may be that of something else. */
  readonly isNoText?: true;
}

const SUFFIX = '.quarantined';
const PUT_ASIDE = /\.quarantined(-\d)?$/;

/** Whether a name is one that was given here. */
export function isPutAside(name: string): boolean {
  return PUT_ASIDE.test(name);
}

/** The new path, or null when it could not be renamed. */
export function moveAside(workspace: string, { path, isNoText }: Planted): string | null {
  const name = basename(path);
  const movedTo = inFolder(workspace, dirname(path), (folder) => {
    const candidates = [1, 2, 3, 4, 5].map((i) => `${name}${SUFFIX}${i === 1 ? '' : `-${i}`}`);
    // A planted file may have a name of full length, or occupy these names.
    const free = candidates.find((each) => each.length < 200 && statOf(`${folder}/${each}`) === undefined);
    const target = free ?? `${randomBytes(8).toString('hex')}${SUFFIX}`;
    failpoint('sandbox.before_rename');
    whileWritable(folder, () =>
      renameSync(isNoText ? bytesOf(folder, name) : `${folder}/${name}`, `${folder}/${target}`),
    );
    failpoint('sandbox.after_rename');
    return [target];
  })[0];
  if (movedTo === undefined) return null;
  return dirname(path) === '.' ? movedTo : `${dirname(path)}/${movedTo}`;
}

/** The path of an entry whose name is no text and is read as this. */
function bytesOf(folder: string, name: string): Buffer {
  const names = readdirSync(folder, { encoding: 'buffer' });
  const found = names.find((each) => each.toString() === name && !isText(each));
  return Buffer.concat([Buffer.from(`${folder}/`), found ?? Buffer.from(name)]);
}

/** A run may take the right to write in a folder away from us; what is ours can be given back. */
function whileWritable(folder: string, rename: () => void): void {
  const { mode } = lstatSync(`${folder}/.`);
  if ((mode & 0o300) !== 0o300) chmodSync(`${folder}/.`, (mode & 0o7777) | 0o300);
  try {
    rename();
  } finally {
    if ((mode & 0o300) !== 0o300) chmodSync(`${folder}/.`, mode & 0o7777);
  }
}
