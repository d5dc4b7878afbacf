// Proves that a commit only moved code: `node scripts/run.mjs scripts/compare-statements.ts BEFORE [AFTER]`.
//
// Every top-level statement of every source file, imports left out and module paths blanked, is reduced to its text
// without layout. The two sorted lists are compared; a statement that is in only one of them is printed.
import { execFileSync } from 'node:child_process';
import ts from 'typescript';
import { root } from './root.mjs';

const SOURCE = /\.(tsx?|mts|mjs|cjs)$/;

const [before, after = 'HEAD'] = process.argv.slice(2);
if (before === undefined) {
  console.error('Name the commit before the move: node scripts/run.mjs scripts/compare-statements.ts BEFORE [AFTER]');
  process.exit(2);
}

const gone = countStatements(before);
const added = countStatements(after);
const total = [...gone.values()].reduce((sum, statement) => sum + statement.count, 0);
for (const [text, { count }] of [...gone]) subtract(added, text, count) && subtract(gone, text, count);

report(gone, '-');
report(added, '+');
const differ = gone.size + added.size;
console.log(differ === 0 ? `All ${total} statements are the same.` : `${differ} of ${total} statements differ.`);
process.exitCode = differ === 0 ? 0 : 1;

interface CountedStatement {
  count: number;
  readonly file: string;
}

function countStatements(commit: string): Map<string, CountedStatement> {
  const counted = new Map<string, CountedStatement>();
  for (const file of git('ls-tree', '-r', '--name-only', '-z', commit).split('\0')) {
    if (!SOURCE.test(file)) continue;
    for (const text of statementsOf(file, git('show', `${commit}:${file}`))) {
      const known = counted.get(text);
      if (known) known.count += 1;
      else counted.set(text, { count: 1, file });
    }
  }
  return counted;
}

/** Prints each statement without layout, so that neither indentation nor the order of files matters. */
function statementsOf(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  return source.statements
    .filter((statement) => !ts.isImportDeclaration(statement))
    .map((statement) => withoutModulePaths(statement.getFullText(source)).replaceAll(/\s+/g, ' ').trim());
}

function withoutModulePaths(text: string): string {
  return text.replaceAll(/(\bfrom |\bimport\(|new URL\()'\.[^']*'/g, "$1''");
}

function subtract(list: Map<string, CountedStatement>, text: string, count: number): boolean {
  const statement = list.get(text);
  if (!statement) return false;
  statement.count -= count;
  if (statement.count === 0) list.delete(text);
  return true;
}

function report(list: ReadonlyMap<string, CountedStatement>, sign: '-' | '+'): void {
  for (const [text, { file }] of list) console.log(`${sign} ${file}: ${text.slice(0, 120)}`);
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 1 << 30 });
}
