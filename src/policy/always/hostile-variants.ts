import type { Subject } from '../../kernel/ports.ts';
import { quoteForShell } from '../../kernel/text/escape.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { plainWords } from '../../shell/plain-words.ts';

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

const LONGEST_WORDS = 12;
const WORDS = ['evil', '-', '-c', '--eval=evil', './evil.sh', '../evil', '/etc/evil'];

/** One simple command with one of its words another: what a wildcard inside a rule would let through. */
export function otherWords(command: string): string[] {
  const argv = (plainWords(command) ?? []).slice(0, LONGEST_WORDS);
  return argv.flatMap((word, index) => {
    const beside = word.includes('/') ? [`${word}/../../evil`] : [];
    const others = index === 0 ? beginnings(word).map((start) => `${start}evil`) : [...WORDS, ...beside];
    return others.map((other) => argv.with(index, other).map(shellQuoted).join(' '));
  });
}

function beginnings(word: string): string[] {
  return [...word].map((_, end) => word.slice(0, end + 1));
}

function shellQuoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoteForShell(word);
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
