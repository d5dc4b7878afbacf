import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
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

export function writeEtc(folder: string, user: { uid: number; gid: number }): void {
  mkdirSync(folder, { mode: 0o755 });
  copy(
    NEEDED.filter((name) => existsSync(`/etc/${name}`)),
    folder,
  );
  writeFileSync(join(folder, 'passwd'), passwd(user));
  writeFileSync(join(folder, 'group'), `root:x:0:\n${INSIDE_USER}:x:${user.gid}:\nnogroup:x:65534:\n`);
  writeFileSync(join(folder, 'hosts'), '127.0.0.1\tlocalhost\n::1\tlocalhost\n');
}

/**
 * Links stay links: they lead to /usr, which is there. By a program, since it is many small files; what this user may
 * not read is left out, as it would be inside.
 */
function copy(names: readonly string[], folder: string): void {
  const options = { cwd: '/etc', stdio: 'ignore', env: { PATH: '/usr/bin:/bin' } } as const;
  const copied = spawnSync('cp', ['-a', '--parents', '--', ...names, folder], options);
  if (copied.status === 0 || existsSync(join(folder, 'nsswitch.conf'))) return;
  for (const name of names) copyOne(`/etc/${name}`, join(folder, name));
}

function copyOne(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    cpSync(from, to, { recursive: true, verbatimSymlinks: true });
  } catch {
    // Not readable for this user.
  }
}

function passwd({ uid, gid }: { uid: number; gid: number }): string {
  const user = `${INSIDE_USER}:x:${uid}:${gid}::${INSIDE_HOME}:/bin/bash`;
  return `root:x:0:0:root:/root:/bin/sh\n${user}\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`;
}
