// The way of one call through the source, for docs/architecture.md: what to read, in order, with the lines it takes.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from './install.mjs';

interface Step {
  readonly file: string;
  readonly functions: readonly string[];
  readonly what: string;
}

/** `POST /v1/calls` with `wait`, a tool that is allowed and a file that is there. */
const WALK: readonly Step[] = [
  {
    file: 'src/http/create-api.ts',
    functions: ['serveOperation', 'doorkeeper', 'queryOf', 'bodyOf', 'checked'],
    what: 'who is it, may they, does it fit',
  },
  {
    file: 'src/http/routes/calls.ts',
    functions: ['startCall', 'placeOf', 'start', 'contextFor'],
    what: 'which session and workspace',
  },
  { file: 'src/runtime/executor.ts', functions: ['execute', '#run'], what: 'the door for programs' },
  {
    file: 'src/runtime/execute.ts',
    functions: ['executeCall', 'find', 'readArguments', 'recordRequest', 'requested'],
    what: 'the pipeline, and the one catch on it',
  },
  {
    file: 'src/runtime/admit.ts',
    functions: ['admit', 'admitProposed', 'propose', 'validate', 'judge', 'decide', 'judged', 'admitted'],
    what: 'validate, say what is touched, ask the policy',
  },
  {
    file: 'src/runtime/run-admitted.ts',
    functions: ['runAdmitted', 'takeTurn', 'takePlace', 'runInTurn', 'start', 'changesNothing', 'run', 'ended'],
    what: 'wait its turn, record the start, run',
  },
  { file: 'src/tools/fs/read-file.ts', functions: ['run', 'asText', 'render'], what: 'the tool' },
  { file: 'src/workspace/read.ts', functions: ['readWindow', 'withFile'], what: 'open, check what was opened, read' },
  {
    file: 'src/runtime/settle.ts',
    functions: ['settle', 'conclude', 'answer', 'executionOf', 'recordEnd', 'outcomeOf', 'concluded'],
    what: 'bound, record, tell',
  },
  { file: 'src/runtime/record.ts', functions: ['record'], what: 'in the store first, then to listeners' },
  {
    file: 'src/http/routes/calls.ts',
    functions: ['ended', 'answer', 'withResult'],
    what: 'the answer',
  },
];

export function walk(): string {
  const steps = WALK.map((step) => ({ ...step, lines: linesOf(step) }));
  const rows = steps.map(({ file, functions, what, lines }, at) => {
    const names = functions.map((name) => `\`${name}\``).join(' ');
    return `| ${at + 1} | \`${file}\` | ${names} | ${what} | ${lines} |`;
  });
  const total = steps.reduce((sum, { lines }) => sum + lines, 0);
  return ['| # | file | functions | what | lines |', '|---|---|---|---|---|', ...rows, `| | | | | **${total}** |`].join(
    '\n',
  );
}

/** A function that is gone is a mistake here, not a shorter walk. */
function linesOf({ file, functions }: Step): number {
  const source = ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
  const found = new Map<string, number>();
  visit(source);
  const missing = functions.filter((name) => !found.has(name));
  if (missing.length > 0) throw new Error(`${file} has no ${missing.join(', ')}: correct scripts/walk.ts`);
  return functions.reduce((sum, name) => sum + (found.get(name) ?? 0), 0);

  function visit(node: ts.Node): void {
    const name = nameOf(node);
    if (name !== undefined && !found.has(name)) found.set(name, span(node));
    ts.forEachChild(node, visit);
  }

  function span(node: ts.Node): number {
    const line = (at: number) => source.getLineAndCharacterOfPosition(at).line;
    return line(node.getEnd()) - line(node.getStart()) + 1;
  }
}

function nameOf(node: ts.Node): string | undefined {
  const isFunction = ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node);
  const isField = ts.isPropertyAssignment(node) && ts.isArrowFunction(node.initializer);
  return isFunction || isField ? node.name?.getText() : undefined;
}
