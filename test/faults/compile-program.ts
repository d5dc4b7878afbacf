import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const root = resolve(import.meta.dirname, '../..');

/**
 * Compiles a program and all its imports to plain JavaScript, in a folder below node_modules where packages resolve.
 * Used by tests that start many processes, where compiling in each process would take most of the time.
 */
export function compileProgram(entry: string): string {
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'faults-'));
  const done = new Set<string>();
  translate(join(root, entry));
  return join(folder, entry.replace(/\.ts$/, '.js'));

  function translate(path: string): void {
    if (done.has(path)) return;
    done.add(path);
    const source = readFileSync(path, 'utf8');
    const { outputText } = ts.transpileModule(source, { compilerOptions: OPTIONS });
    const target = join(folder, relative(root, path).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, outputText);
    for (const [, imported = ''] of outputText.matchAll(/from ["'](\.[^"']+)\.js["']/g)) {
      translate(resolve(dirname(path), `${imported}.ts`));
    }
  }
}

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};
