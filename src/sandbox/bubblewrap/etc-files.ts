import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { identityConfig, userIdentity } from '../../git/identity.ts';
import { errnoOf } from '../../host/errno.ts';
import { readText, uniqueName } from '../../host/files.ts';
import { createYielder, type Yielder } from '../../kernel/yielding.ts';

export const INSIDE_USER = 'toolwright';
export const INSIDE_HOME = '/home/toolwright';

/**
 * Only files of /etc that programs need to start, and none that is secret: as root a run owns every file of root, and could
 * read /etc/shadow. They are copied, because one mount is quick and forty are not.
 */
const NEEDED = [
  ...['alternatives', 'bash.bashrc', 'ca-certificates', 'ca-certificates.conf', 'debian_version', 'fonts', 'gai.conf'],
  ...['host.conf', 'inputrc', 'java-11-openjdk', 'java-17-openjdk', 'java-21-openjdk', 'ld.so.cache', 'ld.so.conf'],
  ...['ld.so.conf.d', 'locale.alias', 'locale.conf', 'localtime', 'lsb-release', 'magic', 'mime.types'],
  ...['nsswitch.conf', 'os-release', 'perl', 'pki/ca-trust', 'pki/tls/certs', 'profile', 'protocols', 'python3'],
  ...['python3.11', 'python3.12', 'python3.13', 'services', 'shells', 'ssl/certs', 'ssl/openssl.cnf', 'terminfo'],
  ...['timezone', 'vim', 'xdg'],
] as const;

export async function writeEtc(folder: string, user: { uid: number; gid: number }): Promise<void> {
  mkdirSync(folder, { mode: 0o755 });
  const yielder = createYielder(SLICE_MS);
  for (const name of NEEDED) {
    if (!existsSync(`/etc/${name}`)) continue;
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    await copy(`/etc/${name}`, join(folder, name), yielder);
  }
  writeFileSync(join(folder, 'passwd'), passwd(user));
  writeFileSync(join(folder, 'group'), `root:x:0:\n${INSIDE_USER}:x:${user.gid}:\nnogroup:x:65534:\n`);
  writeFileSync(join(folder, 'hosts'), '127.0.0.1\tlocalhost\n::1\tlocalhost\n');
}

/**
 * Puts the user's name and e-mail into the system's git configuration of the inside, where every other configuration overrides
 * them. Called before each run: people set them when a commit has failed.
 */
export function refreshIdentity(etc: string, home: string): void {
  const wanted = identityConfig(userIdentity(home, (file) => readText(file) ?? ''));
  const file = join(etc, 'gitconfig');
  if ((readText(file) ?? '') === wanted) return;
  const fresh = join(etc, uniqueName('gitconfig'));
  writeFileSync(fresh, wanted);
  renameSync(fresh, file);
}

/**
 * Symlinks stay symlinks: they lead to /usr, which is there. Files that this user may not read are left out.
 * Not by a program: it would outlive us if we are killed, and write into a folder that the next one removes. There are
 * hundreds of small files, which are quicker copied at once than each in its turn; now and then others get theirs.
 */
async function copy(from: string, to: string, yielder: Yielder): Promise<void> {
  if (yielder.isDue()) await yielder.pause();
  try {
    const found = lstatSync(from);
    if (found.isSymbolicLink()) return symlinkSync(readlinkSync(from), to);
    if (found.isFile()) return copyFileSync(from, to);
    if (!found.isDirectory()) return;
    const names = readdirSync(from);
    mkdirSync(to, { mode: 0o755 });
    for (const name of names) await copy(`${from}/${name}`, `${to}/${name}`, yielder);
  } catch (error) {
    if (!LEFT_OUT.has(errnoOf(error))) throw error;
  }
}

/** Shorter than elsewhere: a copy of one file cannot be divided. */
const SLICE_MS = 5;
const LEFT_OUT: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'ENOENT']);

function passwd({ uid, gid }: { uid: number; gid: number }): string {
  const user = `${INSIDE_USER}:x:${uid}:${gid}::${INSIDE_HOME}:/bin/bash`;
  return `root:x:0:0:root:/root:/bin/sh\n${user}\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`;
}
