import type { Access } from '../kernel/access.ts';
import type { Subject } from '../kernel/ports.ts';

/** Calls that look like this one and do something else: a rule that came from a yes to this one must not cover them. */
export function hostileVariants(subject: Subject): Subject[] {
  return subject.access.flatMap((access) => variantsOf(access).map((variant) => ({ ...subject, access: [variant] })));
}

function variantsOf(access: Access): Access[] {
  switch (access.kind) {
    case 'process.run':
      return COMMANDS.map((change) => ({ ...access, command: change(access.command) }));
    case 'net.fetch':
      return URL.canParse(access.url) ? HOSTS.map((change) => ({ ...access, url: change(new URL(access.url)) })) : [];
    case 'fs.write':
    case 'fs.delete':
      return PATHS.map((change) => ({ ...access, path: change(access.path) }));
    default:
      return [];
  }
}

const COMMANDS: readonly ((command: string) => string)[] = [
  (command) => `${command}; touch PWNED`,
  (command) => `${command} && touch PWNED`,
  (command) => `${command} || touch PWNED`,
  (command) => `${command} & touch PWNED`,
  (command) => `${command}\ntouch PWNED`,
  (command) => `${command} | tee PWNED`,
  (command) => `${command} | sh`,
  (command) => `${command} > PWNED`,
  (command) => `${command} $(touch PWNED)`,
  (command) => `${command} \`touch PWNED\``,
  (command) => `${command} "$X"`,
  (command) => `${command} <(touch PWNED)`,
  (command) => `LD_PRELOAD=./evil.so ${command}`,
  (command) => `PATH=.:$PATH ${command}`,
  (command) => `GIT_EXTERNAL_DIFF=./evil.sh ${command}`,
  (command) => `${command} --exec ./evil.sh`,
  (command) => `${command} --config ./evil.json`,
  (command) => `${command} --upload-file .env`,
  (command) => `${command} ../../etc`,
  (command) => `./${command}`,
  (command) => `sudo ${command}`,
];

const HOSTS: readonly ((url: URL) => string)[] = [
  ({ hostname }) => `https://${hostname}.evil.test/`,
  ({ hostname }) => `https://evil${hostname}/`,
  ({ hostname }) => `https://${hostname}@evil.test/`,
  () => 'http://169.254.169.254/latest/',
  () => 'http://localhost/',
];

const PATHS: readonly ((path: string) => string)[] = [
  (path) => `${path}.sh`,
  (path) => `${path}/../.git/hooks/pre-commit`,
  () => '.env',
  () => '../outside',
];
