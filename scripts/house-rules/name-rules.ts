import { basename } from 'node:path';
import ts from 'typescript';
import type { SourceFile, SourceTree } from './source-tree.ts';
import type { Violation } from './violation.ts';

const MAX_FILES_WITH_ONE_TYPE_NAME = 2;

/** Words that need a noun beside them, in the name of a file and in the name of a type. */
const BARE_WORDS = new Set(
  'answered asked caught checked declared ended found given held inherited judged kept known planned prepared said seen shared shown started submitted told used written'.split(
    ' ',
  ),
);
const BARE_FILE_WORDS = new Set(
  'composing familiar inner inside sendable tellable untrusted waiting whole working'.split(' '),
);
const BARE_TYPE_WORDS = new Set(['answer', 'options', 'parts', 'place']);
const CLAUSE_START = /^(what|whatever|how|when|where|which|who|whose|why|is|by|before)-/;
const PARTICIPLE_END = /-(found|given|held|kept|named|seen|told|used|whom)$/;
const PARTICIPLE_WITH_PARTICLE = /^(given|held|kept|put|left)-(aside|back|off|out|up)$/;

export function judgeNames({ product }: SourceTree): Violation[] {
  const types = product.flatMap((file) => typeNames(file).map((name) => ({ file: file.path, name })));
  const bareTypes: Violation[] = types
    .filter(({ name }) => BARE_WORDS.has(name.toLowerCase()) || BARE_TYPE_WORDS.has(name.toLowerCase()))
    .map(({ file, name }) => ({ rule: 'type name', place: `${file} ${name}`, size: 1 }));
  const files: Violation[] = product
    .filter(({ path }) => isForbiddenFileName(basename(path).replace(/\.\w+$/, '')))
    .map(({ path }) => ({ rule: 'file name', place: path, size: 1 }));
  return [...files, ...bareTypes, ...judgeRepeatedTypes(types)];
}

function isForbiddenFileName(name: string): boolean {
  if (BARE_WORDS.has(name) || BARE_FILE_WORDS.has(name)) return true;
  return [CLAUSE_START, PARTICIPLE_END, PARTICIPLE_WITH_PARTICLE].some((pattern) => pattern.test(name));
}

function judgeRepeatedTypes(types: readonly { file: string; name: string }[]): Violation[] {
  const files = new Map<string, number>();
  for (const { name } of types) files.set(name, (files.get(name) ?? 0) + 1);
  return [...files]
    .filter(([, size]) => size > MAX_FILES_WITH_ONE_TYPE_NAME)
    .map(([place, size]) => ({ rule: 'repeated type name', place, size }));
}

/** Types, interfaces and classes at the level of the module; overloads and merged declarations count once. */
function typeNames({ tree }: SourceFile): string[] {
  const names = tree().statements.flatMap((statement) => {
    const isType =
      ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement) || ts.isClassDeclaration(statement);
    return isType && statement.name !== undefined ? [statement.name.text] : [];
  });
  return [...new Set(names)];
}
