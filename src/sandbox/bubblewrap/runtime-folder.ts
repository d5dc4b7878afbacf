import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createOwnedFolder, type OwnedFolder } from '../owned-folder.ts';
import { createMaskLayers, type MaskLayers } from '../stage/mask-layer.ts';
import { writeEtc } from './etc-files.ts';

/** The few files that a sandbox needs on the host, in a folder that only its user can enter. */
export interface RuntimeFolder extends OwnedFolder {
  /** Masks without permissions, so that a masked file is forbidden rather than empty. */
  readonly maskFile: string;
  readonly maskFolder: string;
  readonly masks: MaskLayers;
  readonly seccomp: string | null;
  /** A small /etc for the inside. */
  readonly etc: string;
}

export async function createRuntimeFolder(
  parent: string,
  given: { uid: number; gid: number; seccomp: Uint8Array | null },
): Promise<RuntimeFolder> {
  const { path, remove } = createOwnedFolder(parent, 'sandbox');
  const write = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(path, name), content, { mode: 0o600 });
    return join(path, name);
  };
  const folder: RuntimeFolder = {
    path,
    maskFile: write('mask-file', ''),
    maskFolder: join(path, 'mask-folder'),
    masks: createMaskLayers(path),
    seccomp: given.seccomp === null ? null : write('seccomp', given.seccomp),
    etc: join(path, 'etc'),
    remove,
  };
  chmodSync(folder.maskFile, 0o000);
  mkdirSync(folder.maskFolder, { mode: 0o000 });
  await writeEtc(folder.etc, given);
  return folder;
}
