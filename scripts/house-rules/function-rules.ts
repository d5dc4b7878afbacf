import ts from 'typescript';
import type { SourceFile, SourceTree } from './source-tree.ts';
import type { Violation } from './violation.ts';

const MAX_PARAMETERS = 3;
const MAX_LINES = 120;

type FunctionNode = ts.FunctionLikeDeclaration;

export function judgeFunctions({ product }: SourceTree): Violation[] {
  return product.flatMap(judgeFile);
}

function judgeFile({ path, tree }: SourceFile): Violation[] {
  const source = tree();
  const violations: Violation[] = [];
  visit(source, []);
  return violations;

  function visit(node: ts.Node, scope: readonly string[]): void {
    const name = nameOf(node);
    const inner = name === undefined ? scope : [...scope, name];
    if (isFunction(node)) {
      const place = `${path} ${inner.join('.')}`;
      if (name !== undefined) violations.push(...judgeParameters(node, place));
      const lines = linesOf(node, source);
      const label = name === undefined ? `${place} callback` : place;
      if (lines > MAX_LINES) violations.push({ rule: 'function length', place: label, size: lines });
    }
    ts.forEachChild(node, (child) => visit(child, inner));
  }
}

function judgeParameters(node: FunctionNode, place: string): Violation[] {
  const parameters = node.parameters.filter(({ name }) => name.getText() !== 'this');
  const flags: Violation[] = parameters
    .filter(isBoolean)
    .map(({ name }) => ({ rule: 'boolean parameter', place: `${place}(${name.getText()})`, size: 1 }));
  const many: Violation = { rule: 'parameters', place, size: parameters.length };
  return parameters.length > MAX_PARAMETERS ? [many, ...flags] : flags;
}

function isBoolean({ type, initializer }: ts.ParameterDeclaration): boolean {
  const choices = type !== undefined && ts.isUnionTypeNode(type) ? type.types : [type];
  return (
    choices.some((choice) => choice?.kind === ts.SyntaxKind.BooleanKeyword) ||
    initializer?.kind === ts.SyntaxKind.TrueKeyword ||
    initializer?.kind === ts.SyntaxKind.FalseKeyword
  );
}

function linesOf(node: ts.Node, source: ts.SourceFile): number {
  const line = (at: number) => source.getLineAndCharacterOfPosition(at).line;
  return line(node.getEnd()) - line(node.getStart()) + 1;
}

function isFunction(node: ts.Node): node is FunctionNode {
  return ts.isFunctionLike(node) && 'body' in node;
}

/** The name of a class, or of a function that is declared or assigned; a callback has none. */
function nameOf(node: ts.Node): string | undefined {
  if (ts.isConstructorDeclaration(node)) return 'constructor';
  if (ts.isClassLike(node) || isFunction(node)) return node.name?.getText() ?? assignedName(node);
  return undefined;
}

function assignedName(node: ts.Node): string | undefined {
  const { parent } = node;
  if (ts.isParenthesizedExpression(parent) || ts.isAsExpression(parent) || ts.isSatisfiesExpression(parent)) {
    return assignedName(parent);
  }
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent)) {
    return parent.name.getText();
  }
  const isAssigned = ts.isBinaryExpression(parent) && parent.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  return isAssigned ? parent.left.getText() : undefined;
}
