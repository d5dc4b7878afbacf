// Part of `npm run check`: a tool's name stands in its own file and nowhere else, so that nothing can branch on it.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { builtInTools } from '../src/tools/index.ts';

const root = join(import.meta.dirname, '..');
const NAMES = new Set(builtInTools.map(({ name }) => name));
/** Files that are data about tools: their names in each toolset, the demo's script, and the name of the runtime's own call. */
const DATA = ['src/runtime/registry/built-in-toolsets.ts', 'src/app/demo.ts', 'src/kernel/tool/kept-changes.ts'];
/** Names that are also those of programs and languages, and the folders where they mean that. */
const PROGRAMS = new Set(['bash', 'grep', 'glob']);
const OF_PROGRAMS =
  /^src\/(policy|shell|sandbox|workspace|kernel\/tool\/access|tools\/code|tools\/(shell|search)|cli\/commands\/completion)\b/;

const found = ['src', 'web'].flatMap((folder) => sources(folder)).flatMap(namesIn);
for (const line of found) console.error(line);
if (found.length > 0) {
  console.error('Say it with the tool’s own fields (effect, access, view …) instead of asking for its name.');
  process.exit(1);
}

function sources(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.|^src\/testing\/|node_modules/.test(file))
    .filter((file) => !DATA.includes(file));
}

function namesIn(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const lines: string[] = [];
  visit(source);
  return lines;

  function visit(node: ts.Node): void {
    const name = nameOf(node);
    if (name !== undefined && NAMES.has(name) && !isOwn(file, name)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      lines.push(`${file}:${line + 1}: the name of the tool ${name}`);
    }
    ts.forEachChild(node, visit);
  }
}

/** A text that is a name, or a key of a table of names. */
function nameOf(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isPropertyAssignment(node) || !ts.isIdentifier(node.name)) return undefined;
  return PROGRAMS.has(node.name.text) ? undefined : node.name.text;
}

function isOwn(file: string, name: string): boolean {
  if (PROGRAMS.has(name) && OF_PROGRAMS.test(file)) return true;
  return file.startsWith('src/tools/') && file.endsWith(`/${name.replaceAll('_', '-')}.ts`);
}
