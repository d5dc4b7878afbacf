import { existsSync } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export const INSIDE_USER = 'toolwright';
export const INSIDE_HOME = '/home/toolwright';

/**
 * Of /etc only what programs need to start and nothing that is secret: as root a run owns every file of root, and
 * could read /etc/shadow. Copied, because one mount is quick and forty are not.
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
  await mkdir(folder, { mode: 0o755 });
  await Promise.all(NEEDED.map((name) => copyNeeded(name, folder)));
  await writeFile(join(folder, 'passwd'), passwd(user));
  await writeFile(join(folder, 'group'), `root:x:0:\n${INSIDE_USER}:x:${user.gid}:\nnogroup:x:65534:\n`);
  await writeFile(join(folder, 'hosts'), '127.0.0.1\tlocalhost\n::1\tlocalhost\n');
}

async function copyNeeded(name: string, folder: string): Promise<void> {
  if (!existsSync(`/etc/${name}`)) return;
  await mkdir(dirname(join(folder, name)), { recursive: true });
  await copy(`/etc/${name}`, join(folder, name));
}

/**
 * Links stay links: they lead to /usr, which is there. What this user may not read is left out, as it would be inside.
 * Not by a program: it would outlive us if we are killed, and write into a folder that the next one removes.
 */
async function copy(from: string, to: string): Promise<void> {
  try {
    const found = await lstat(from);
    if (found.isSymbolicLink()) return await symlink(await readlink(from), to);
    if (found.isFile()) return await copyFile(from, to);
    if (!found.isDirectory()) return;
    const names = await readdir(from);
    await mkdir(to, { mode: 0o755 });
    // One after the other: there are hundreds, and others want to read files too.
    for (const name of names) await copy(`${from}/${name}`, `${to}/${name}`);
  } catch (error) {
    if (!LEFT_OUT.has((error as NodeJS.ErrnoException).code)) throw error;
  }
}

const LEFT_OUT: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'ENOENT']);

function passwd({ uid, gid }: { uid: number; gid: number }): string {
  const user = `${INSIDE_USER}:x:${uid}:${gid}::${INSIDE_HOME}:/bin/bash`;
  return `root:x:0:0:root:/root:/bin/sh\n${user}\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`;
}
