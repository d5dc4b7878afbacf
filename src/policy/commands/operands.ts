import { parseScript } from './shell-script.ts';

const MOST = 50;

/** Files that programs read without being told: what they hold decides what runs. */
const IMPLIED: Readonly<Record<string, readonly string[]>> = {
  npm: ['package.json'],
  npx: ['package.json'],
  pnpm: ['package.json'],
  yarn: ['package.json'],
  bun: ['package.json'],
  make: ['Makefile', 'makefile', 'GNUmakefile'],
  just: ['justfile'],
  cargo: ['Cargo.toml'],
  pytest: ['conftest.py', 'pyproject.toml'],
};

/**
 * Names in a command that may be files, as far as they can be known before it runs: its words, what stands behind `=`,
 * what it redirects, each also below the folders it changes to. Names that are no files are for the caller to find out.
 */
export function operandsOf(command: string): string[] {
  const { commands } = parseScript(command);
  const folders = ['', ...commands.map(({ words }) => (words[0]?.value === 'cd' ? (words[1]?.value ?? '') : ''))];
  const names = new Set<string>();
  for (const { words, redirections } of commands) {
    for (const { value } of [...words, ...redirections.map(({ target }) => target)]) {
      if (value !== null) names.add(value.startsWith('-') ? value.slice(value.indexOf('=') + 1) : value);
    }
    for (const implied of IMPLIED[words[0]?.value ?? ''] ?? []) names.add(implied);
  }
  const places = new Set<string>();
  for (const folder of new Set(folders)) {
    for (const name of names) {
      if (name === '' || name.startsWith('-') || name.length > 1000) continue;
      places.add(folder === '' || name.startsWith('/') ? name : `${folder}/${name}`);
    }
  }
  return [...places].slice(0, MOST);
}
