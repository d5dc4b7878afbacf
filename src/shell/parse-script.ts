import { type Command, forEachChild, type ParsedScript, parse, type Redirect, type SyntaxNode } from 'unbash';
import { codePointName, HIDDEN } from '../kernel/text/invisible.ts';
import { isObeyedVariable } from '../kernel/world/environment.ts';
import { isPlainNode, isPlainText } from './plain-script.ts';
import type { Redirection, SimpleCommand } from './simple-command.ts';
import { shellWord } from './words.ts';

export interface ShellScript {
  readonly commands: readonly SimpleCommand[];
  /** Pipelines in order: for each stage its commands, including those in groups and loops. */
  readonly pipelines: readonly (readonly (readonly SimpleCommand[])[])[];
  /** Why the script as a whole cannot be judged by its commands; empty for ordinary ones. */
  readonly problems: readonly string[];
  /** A function that calls itself in the background. */
  readonly forkBomb: boolean;
  /** Its words are all known, and every shell reads it alike: only then an allow rule counts. */
  readonly isPlain: boolean;
  /** It is too much to be read as commands. */
  readonly isUnread: boolean;
}

/** Of more commands none is judged by itself, but all of them as a text: the reader stops behind this many. */
export const MAX_COMMANDS = 500;
/** How many pipelines around a command count. */
const MAX_NESTING = 8;
/** Longer scripts are never judged: no person would read them in an approval either. */
const MAX_CHARACTERS = 100_000;
/** Braces, heredocs or nesting levels times characters: from each of them the grammar reads on to its end. */
const MAX_STEPS = 2_000_000;
/** Characters with which a substitution or a redirection begins: the grammar makes many objects of each. */
const MAX_EXPANSIONS = 8000;

/** Returns every simple command of a script, in pipelines, lists, loops, functions, substitutions and heredocs alike. */
export function parseScript(source: string): ShellScript {
  if (source.length > MAX_CHARACTERS) return unparsed('it is longer than 100,000 characters');
  let isPlain = isPlainText(source);
  const tooMuch = isPlain ? undefined : whyTooMuch(source);
  if (tooMuch !== undefined) return unparsed(tooMuch);
  const hiddenCharacter = HIDDEN.first.exec(source);
  const problems =
    hiddenCharacter === null ? [] : [`it holds the invisible character ${codePointName(hiddenCharacter[0])}`];
  const commands: SimpleCommand[] = [];
  const pipelines: SimpleCommand[][][] = [];
  let forkBomb = false;
  let arithmetic = 0;
  try {
    visit(parse(source), source, []);
  } catch {
    problems.push('it cannot be parsed');
  }
  // The old syntax of arithmetic, which the grammar reads as text.
  if (!isPlain && source.includes('$[')) problems.push(COMPUTES);
  // Two parentheses in a row are arithmetic to one shell and nested commands to another.
  if (!isPlain && (source.match(/\(\(/g)?.length ?? 0) > arithmetic) problems.push('it has double parentheses');
  isPlain &&= problems.length === 0;
  return { commands, pipelines, problems: [...new Set(problems)], forkBomb, isPlain, isUnread: false };

  /** `stages`: the stages of pipelines around the node. Where they nest deeper than that, the second parser gives up. */
  function visit(node: SyntaxNode, text: string, stages: readonly SimpleCommand[][]): void {
    if (commands.length > MAX_COMMANDS) return;
    isPlain &&= isPlainNode(node);
    const own = node.type === 'Script' ? (node.source ?? text) : text;
    const problem = problemOf(node);
    if (problem !== undefined) problems.push(problem);
    if (node.type === 'ArithmeticExpansion' || node.type === 'ArithmeticCommand') arithmetic++;
    if (node.type === 'Command') {
      const command = simpleCommand(node, own);
      commands.push(command);
      for (const stage of stages.slice(-MAX_NESTING)) stage.push(command);
    }
    if (node.type === 'Function' && callsItself(node)) forkBomb = true;
    if (node.type === 'Redirected') {
      const redirections = node.redirects.flatMap((redirect) => toRedirection(redirect, own));
      if (redirections.length > 0)
        commands.push({
          text: own.slice(node.pos, node.end),
          words: [],
          assignments: [],
          redirections,
          input: undefined,
        });
    }
    if (node.type !== 'Pipeline') {
      forEachChild(node, (child) => visit(child, own, stages));
      return;
    }
    const inOrder: SimpleCommand[][] = [];
    pipelines.push(inOrder);
    for (const part of node.commands) {
      const stage: SimpleCommand[] = [];
      inOrder.push(stage);
      visit(part, own, [...stages.slice(-MAX_NESTING), stage]);
    }
  }
}

/** Bounds before the work: why the grammar, which is not linear, is not asked about a script. */
function whyTooMuch(source: string): string | undefined {
  const braces = source.match(/\{(?![\s}])|<</g)?.length ?? 0;
  if (braces * source.length > MAX_STEPS) return 'it has more braces or heredocs than can be checked';
  if ((source.match(/[$`<>(]/g)?.length ?? 0) > MAX_EXPANSIONS)
    return 'it has more substitutions and redirections than can be checked';
  return nestingDepth(source) * source.length > MAX_STEPS ? 'it nests too deep' : undefined;
}

/** The highest number of parentheses that are open at once, including those in quotes. */
function nestingDepth(source: string): number {
  let open = 0;
  let deepest = 0;
  for (const [parenthesis] of source.matchAll(/[()]/g)) {
    open = parenthesis === '(' ? open + 1 : Math.max(0, open - 1);
    deepest = Math.max(deepest, open);
  }
  return deepest;
}

function unparsed(why: string): ShellScript {
  return { commands: [], pipelines: [], problems: [why], forkBomb: false, isPlain: false, isUnread: true };
}

/** Why a node cannot be judged: it changes the meaning of other words, or runs text as code. */
function problemOf(node: SyntaxNode): string | undefined {
  switch (node.type) {
    case 'Script':
      return (node as ParsedScript).errors?.length ? 'it has a syntax error' : undefined;
    case 'CommandExpansion':
    case 'ProcessSubstitution':
      return node.script === undefined ? 'it has a substitution that cannot be parsed' : undefined;
    case 'ArithmeticExpansion':
    case 'ArithmeticCommand':
      return node.expression !== undefined && isArithmetic('body' in node ? node.body : node.text.slice(3, -2))
        ? undefined
        : 'it has arithmetic that is not plain';
    case 'For':
    case 'Select':
      return isObeyedVariable(node.name.text) ? `it sets ${node.name.text}, which decides what runs` : undefined;
    case 'Function':
      return 'it defines a function';
    case 'Coproc':
      return 'it starts a coprocess';
    case 'Transform':
      return 'it expands a variable as a prompt or as code (@)';
    case 'ParameterExpansion':
      if (node.prefix === '!') return 'it expands a variable named by another (!)';
      if (/^\$\{\w+(?:\[[^\]]*\])?:?=/.test(node.text) && isObeyedVariable(node.parameter))
        return `it sets ${node.parameter}, which decides what runs`;
      return [node.index, ...sliceOf(node.operation)].every(isPlainIndex) ? undefined : COMPUTES;
    case 'TestBinary':
      return !NUMERIC_TESTS.has(node.operator) || [node.left, node.right].every(isNumber) ? undefined : COMPUTES;
    case 'TestUnary':
      return node.operator === '-v' && !/^\w+$/.test(node.operand.text) ? COMPUTES : undefined;
    case 'Assignment':
      return node.index === undefined ? undefined : 'it assigns to a computed index';
    default:
      return undefined;
  }
}

/**
 * Accepts only numbers and operators. In arithmetic a shell also evaluates the text of a variable, and `a[$(…)]` in it runs
 * a command. A shell may also read `$((ls a))` as a command in parentheses.
 */
function isArithmetic(text: string): boolean {
  return /^[\d\s+\-*/%()<>=!&|^?:,]*$/.test(text) && !/\d\s+\d|[<>]\s*[/&]/.test(text);
}

const COMPUTES = 'it computes with a variable, whose text may be code';
const NUMERIC_TESTS = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

function isNumber({ text }: Word): boolean {
  return /^\s*-?\d+$/.test(text);
}

function isPlainIndex(index: Word | undefined): boolean {
  return index === undefined || index.text === '@' || index.text === '*' || isNumber(index);
}

type Operation = Extract<SyntaxNode, { type: 'ParameterExpansion' }>['operation'];

function sliceOf(operation: Operation): readonly (Word | undefined)[] {
  return operation?.type === 'Slice' ? [operation.offset, operation.length] : [];
}

function callsItself(definition: Extract<SyntaxNode, { type: 'Function' }>): boolean {
  let calls = false;
  let background = false;
  look(definition.body);
  return calls && background;

  function look(node: SyntaxNode): void {
    if (node.type === 'Command' && node.name?.value === definition.name.value) calls = true;
    if (node.type === 'Statement' && node.background) background = true;
    forEachChild(node, look);
  }
}

function simpleCommand(node: Command, source: string): SimpleCommand {
  const text = source.slice(node.pos, node.end);
  const words = node.name === undefined ? [] : [node.name];
  const assignments = node.prefix.flatMap((part) => (part.type === 'Assignment' ? [part] : []));
  for (const argument of node.args) {
    // `export A=1` has assignments among its arguments; here they are words.
    words.push(argument.type === 'Assignment' ? wordOf(argument.text, argument.pos, argument.end, argument) : argument);
  }
  return {
    text,
    words: words.map(shellWord),
    assignments: assignments.map(({ name, text, value }) => ({
      name,
      text,
      computed: value.type !== 'Word' || shellWord(value).value === null,
    })),
    redirections: node.redirects.flatMap((redirect) => toRedirection(redirect, source)),
    input: inputOf(node),
  };
}

function inputOf({ redirects }: Command): string | undefined {
  for (const redirect of redirects) {
    if (redirect.type === 'HereDoc') return redirect.body.text;
    if (redirect.type === 'HereString' && redirect.target !== undefined) return redirect.target.value;
  }
  return undefined;
}

type Word = NonNullable<Command['name']>;

function wordOf(text: string, pos: number, end: number, { value }: { value: unknown }): Word {
  const { parts, text: given = '', value: known = '' } = value as Partial<Word>;
  const seen = text.slice(0, text.length - given.length) + known;
  return { type: 'Word', text, value: seen, pos, end, ...(parts && { parts }) } as Word;
}

function toRedirection(redirect: Command['redirects'][number], source: string): Redirection[] {
  if (redirect.type !== 'Redirect' || redirect.target === undefined) return [];
  const target = shellWord(redirect.target);
  // `2>&1` and `<&-` move descriptors; `>&file` opens a file.
  if (target.value === '/dev/null') return [];
  if (redirect.operator.endsWith('&') && /^(\d+|-|\d+-)$/.test(target.value ?? '')) return [];
  const opens = READING.includes(redirect.operator) ? 'read' : 'write';
  return [{ text: source.slice(redirect.pos, redirect.end), opens, target }];
}

const READING: readonly Redirect['operator'][] = ['<', '<&'];
