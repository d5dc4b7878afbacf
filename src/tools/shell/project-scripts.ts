import { posix } from 'node:path';
import type { Access } from '../../kernel/access.ts';
import type { ToolContext } from '../../kernel/tool.ts';

/**
 * A rule for `npm test` allows two words; what runs is what package.json says, and anybody may have changed that. So
 * the text behind such a command is asked about once in a session, and again when it has changed.
 */

const START = String.raw`(?:^|[\s;&|(])`;

/** Programs that run what a file of the project says, and the files they look for. */
const RUNNERS = [
  ['npm|pnpm|yarn|bun', 'package.json'],
  ['make|gmake', 'GNUmakefile makefile Makefile'],
  ['just', 'justfile Justfile'],
  ['rake|bundle|rspec', 'Rakefile Gemfile spec/spec_helper.rb'],
  ['task', 'Taskfile.yml Taskfile.yaml'],
  ['tox|nox', 'tox.ini noxfile.py'],
  ['pytest|py\\.test|python3? -m pytest', 'conftest.py tests/conftest.py'],
  ['pip3?|python3? -m pip|uv', 'setup.py'],
  ['composer', 'composer.json'],
  ['cargo', 'build.rs'],
  ['cmake|ctest', 'CMakeLists.txt'],
  ['mvn', 'pom.xml'],
  ['gradle|\\./gradlew', 'build.gradle build.gradle.kts'],
  ['vitest|npx vitest', 'vitest.config.ts vitest.config.js vite.config.ts'],
  ['jest|npx jest', 'jest.config.js jest.config.ts'],
  ['eslint|npx eslint', 'eslint.config.js eslint.config.mjs .eslintrc.js'],
  ['pre-commit', '.pre-commit-config.yaml'],
].map(([names = '', files = '']) => ({
  pattern: new RegExp(`${START}(?:${names})(?:\\s|$)`),
  files: files.split(' '),
}));

const FILE = String.raw`[\w@%+.-]+(?:/[\w@%+.-]+)*`;

/** A file that the command runs by its name: `./build.sh`, `bash build.sh`, `python3 tools/x.py`. */
const BY_NAME = new RegExp(
  `(?:^|[;&|(])\\s*((?:\\.{1,2}/)${FILE})|${START}(?:bash|sh|dash|zsh|source|\\.|python3?|node|ruby|perl|php|tsx)\\s+((?:\\./)?${FILE})`,
  'g',
);

const MOST_FILES = 20;
const MOST_FOLDERS = 5;

export function mayRunScripts(command: string): boolean {
  return fileNames(command).length > 0;
}

type Unfamiliar = NonNullable<Extract<Access, { kind: 'process.run' }>['unfamiliar']>;

export async function unfamiliarScript(
  command: string,
  cwd: string | undefined,
  ctx: ToolContext,
): Promise<Unfamiliar | undefined> {
  const scripts = await projectScripts(command, cwd, ctx);
  const found = scripts.find(({ text }) => !ctx.commands.isFamiliar(text));
  if (found === undefined) return undefined;
  const { path, text } = found;
  const shown = text.length > 200 ? `${text.slice(0, 200)} …` : text;
  return { path, reason: `It runs what ${path} says, and this text has not run in this session yet: ${shown}` };
}

export async function rememberScripts(command: string, cwd: string | undefined, ctx: ToolContext): Promise<void> {
  for (const { text } of await projectScripts(command, cwd, ctx)) ctx.commands.remember(text);
}

/** The files whose text the command would run, as they are now. */
async function projectScripts(command: string, cwd = '.', ctx: ToolContext) {
  const found: { path: string; text: string }[] = [];
  const names = fileNames(command);
  const paths = foldersOf(command, cwd).flatMap((folder) => names.map((name) => posix.join(folder, name)));
  for (const path of new Set(paths)) {
    const read = await ctx.files.readText(path);
    if (read.ok) found.push({ path: read.value.path, text: relevant(read.value.path, read.value.text) });
  }
  return found;
}

/** Where the command may be when it runs something: where it starts, and where each `cd` leads. */
function foldersOf(command: string, cwd: string): string[] {
  const folders = [cwd];
  for (const [, folder = ''] of command.matchAll(/(?:^|[;&|(])\s*cd\s+([\w@%+./-]+)/g)) {
    folders.push(posix.join(folders.at(-1) ?? cwd, folder));
  }
  return folders.slice(0, MOST_FOLDERS);
}

function fileNames(command: string): string[] {
  const manifests = RUNNERS.filter(({ pattern }) => pattern.test(command)).flatMap(({ files }) => files);
  const scripts = [...command.matchAll(BY_NAME)].map(([, alone, after]) => alone ?? after ?? '');
  return [...manifests, ...scripts].slice(0, MOST_FILES);
}

/** Of package.json only what can run: a new dependency or version number is no new script. */
function relevant(path: string, text: string): string {
  if (posix.basename(path) !== 'package.json') return text;
  try {
    return JSON.stringify((JSON.parse(text) as { scripts?: unknown }).scripts ?? {});
  } catch {
    return text;
  }
}
