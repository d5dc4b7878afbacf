import { entriesIn } from '../../host/files.ts';
import { foldersAbove, parentOf } from '../../kernel/text/folders-above.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';
import type { ProjectScript } from '../../kernel/world/unagreed-texts.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';
import { wholeContent } from './whole-content.ts';

const MAX_FOLDERS = 2_000;
const MAX_SCRIPTS = 5_000;
const MAX_CHARACTERS = 300_000;

/** Files with command lines, one on each line. */
const BY_LINE = ['Makefile', 'makefile', 'GNUmakefile', 'justfile', 'Justfile', 'Taskfile.yml', 'tox.ini', 'Procfile'];
const BY_KEY = ['package.json', 'deno.json', 'composer.json'];

/** Keys that describe a package, or name what others import from it. */
const DESCRIBING = new Set(
  `name version description keywords homepage bugs license author authors contributors funding files main module browser bin
  man directories repository type types typings exports imports sideEffects private publishConfig packageManager engines os
  cpu dependencies devDependencies optionalDependencies peerDependencies peerDependenciesMeta bundleDependencies overrides
  resolutions workspaces autoload require`.split(/\s+/),
);

/**
 * The command lines of the project that may name one of these files: in the folders above them, and in the packages of a workspace of npm.
 * Null where they are too many to be read.
 */
export function findScripts(root: WorkspaceRoot, files: readonly string[]): ProjectScript[] | null {
  const folders = new Set(['', ...files.flatMap((path) => foldersAbove(path)), ...packageFolders(root)]);
  if (folders.size > MAX_FOLDERS) return null;
  const scripts: ProjectScript[] = [];
  for (const folder of folders) {
    const at = (name: string): string => (folder === '' ? name : `${folder}/${name}`);
    for (const path of BY_KEY.map(at)) scripts.push(...valuesIn(textOf(root, path)).map((text) => ({ path, text })));
    for (const path of BY_LINE.map(at)) scripts.push(...linesIn(textOf(root, path)).map((text) => ({ path, text })));
  }
  const characters = scripts.reduce((sum, { text }) => sum + text.length, 0);
  return scripts.length > MAX_SCRIPTS || characters > MAX_CHARACTERS ? null : scripts;
}

function textOf(root: WorkspaceRoot, path: string): string {
  const content = wholeContent(root, path);
  return typeof content === 'string' ? '' : content.toString('utf8');
}

function linesIn(text: string): string[] {
  return text
    .replace(/\\\r?\n\s*/g, ' ')
    .split('\n')
    .map((line) => asShell(line.replace(/^[\s@+-]+/, '').trimEnd()))
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** Variables of make as those of a shell: `$(X)`, `$<` and `$$x`. */
function asShell(line: string): string {
  return line
    .replace(/(?<!\$)\$\((\w+)\)/g, '$${$1}')
    .replace(/\$[<^+|?*%@](?=\s|$)/g, '$$1')
    .replaceAll('$$', '$');
}

function valuesIn(text: string): string[] {
  return Object.entries(parse(text)).flatMap(([key, value]) => (DESCRIBING.has(key) ? [] : stringsIn(value, 0)));
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

function stringsIn(value: unknown, depth: number): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || depth > 8) return [];
  return Object.values(value).flatMap((each) => stringsIn(each, depth + 1));
}

/** The folders of the packages that the manifest of the workspace names. */
function packageFolders(root: WorkspaceRoot): string[] {
  const { workspaces } = parse(textOf(root, 'package.json'));
  const named = isPlainObject(workspaces) ? workspaces.packages : workspaces;
  const patterns = Array.isArray(named) ? named.filter((each) => typeof each === 'string') : [];
  return patterns.flatMap((given) => {
    const pattern = given.replace(/^\.\//, '').replace(/\/+$/, '');
    const folder = parentOf(pattern);
    return /\*/.test(pattern) ? (/\*/.test(folder) ? [] : foldersIn(root, folder)) : [pattern];
  });
}

function foldersIn(root: WorkspaceRoot, path: string): string[] {
  const place = root.locate(path === '' ? '.' : path, { last: 'follow' });
  if (!place.ok) return [];
  const { folder, name } = place.value;
  try {
    return entriesIn(folder.at(name))
      .filter((entry) => entry.isDirectory())
      .map((entry) => (path === '' ? entry.name : `${path}/${entry.name}`));
  } finally {
    folder.close();
  }
}
