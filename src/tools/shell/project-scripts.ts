import { posix } from 'node:path';
import type { Access } from '../../kernel/access.ts';
import type { ToolContext } from '../../kernel/tool.ts';

/**
 * A rule for `npm test` allows two words; what runs is what package.json says, and anybody may have changed that. So
 * the text behind such a command is asked about once in a session, and again when it has changed.
 */

const START = String.raw`(?:^|[\s;&|(])`;

/** Programs that run what a file of the project says. */
const RUNNERS: readonly { readonly pattern: RegExp; readonly files: readonly string[] }[] = [
  { pattern: new RegExp(`${START}(?:npm|pnpm|yarn|bun)\\s`), files: ['package.json'] },
  { pattern: new RegExp(`${START}make(?:\\s|$)`), files: ['GNUmakefile', 'makefile', 'Makefile'] },
  { pattern: new RegExp(`${START}just(?:\\s|$)`), files: ['justfile', 'Justfile'] },
  { pattern: new RegExp(`${START}rake(?:\\s|$)`), files: ['Rakefile'] },
  { pattern: new RegExp(`${START}task(?:\\s|$)`), files: ['Taskfile.yml', 'Taskfile.yaml'] },
  { pattern: new RegExp(`${START}tox(?:\\s|$)`), files: ['tox.ini'] },
  { pattern: new RegExp(`${START}composer\\s`), files: ['composer.json'] },
];

const FILE = String.raw`[\w@%+.-]+(?:/[\w@%+.-]+)*`;

/** A file that the command runs by its name: `./build.sh`, `bash build.sh`, `python3 tools/x.py`. */
const BY_NAME = new RegExp(
  `(?:^|[;&|(])\\s*((?:\\.{1,2}/)${FILE})|${START}(?:bash|sh|dash|zsh|source|\\.|python3?|node|ruby|perl|php|tsx)\\s+((?:\\./)?${FILE})`,
  'g',
);

const MOST_FILES = 20;

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
  for (const path of new Set(fileNames(command).map((name) => posix.join(cwd, name)))) {
    const read = await ctx.files.readText(path);
    if (read.ok) found.push({ path: read.value.path, text: relevant(read.value.path, read.value.text) });
  }
  return found;
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
