// The files the house rules are about, read once.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';

const PARSING: ts.CreateSourceFileOptions = {
  languageVersion: ts.ScriptTarget.Latest,
  jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
};
const IGNORED_FOLDERS = new Set(['node_modules', 'dist', '.cache', '.git']);
const PRODUCT = /^(src|web)\//;
const COMMENTED = /^(src|web|scripts|bench|test)\//;

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  /** The syntax tree, made when it is asked for: most files of the tests need none. */
  readonly tree: () => ts.SourceFile;
}

export interface SourceTree {
  readonly paths: readonly string[];
  /** Programs of src/ and web/, without tests. */
  readonly product: readonly SourceFile[];
  /** Every program that has comments of ours. */
  readonly commented: readonly SourceFile[];
  /** Every program and every English page. */
  readonly written: readonly SourceFile[];
}

export function readSourceTree(root: string): SourceTree {
  const paths = pathsBelow(root, '').sort();
  const written = paths.filter((path) => isProgram(path) || isEnglishPage(path)).map((path) => sourceFile(root, path));
  const programs = written.filter(({ path }) => isProgram(path));
  return {
    paths,
    written,
    product: programs.filter(({ path }) => isProductSource(path)),
    commented: programs.filter(({ path }) => COMMENTED.test(path)),
  };
}

export function isProductSource(path: string): boolean {
  return PRODUCT.test(path) && isProgram(path) && !/\.test\./.test(path);
}

/** The number of source files directly inside each folder of src/ and web/. */
export function countByFolder({ product }: SourceTree): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { path } of product) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return counts;
}

function pathsBelow(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries.flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return IGNORED_FOLDERS.has(entry.name) ? [] : pathsBelow(root, path);
    return entry.isFile() ? [path] : [];
  });
}

function isProgram(path: string): boolean {
  return /\.(tsx?|mjs)$/.test(path);
}

function isEnglishPage(path: string): boolean {
  return path.endsWith('.md') && !basename(path).includes('.zh-');
}

function sourceFile(root: string, path: string): SourceFile {
  const text = readFileSync(join(root, path), 'utf8');
  let tree: ts.SourceFile | undefined;
  return {
    path,
    text,
    tree: () => {
      tree ??= ts.createSourceFile(path, text, PARSING, true);
      return tree;
    },
  };
}
