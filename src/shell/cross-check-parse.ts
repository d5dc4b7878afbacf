/**
 * A second, independent reading of a shell script. It knows only the plain part of the language and understands nothing
 * of what commands mean: it says where words begin and end, and which of them belong together. Where it does not follow,
 * or finds something else than the grammar did, nobody knows what would run.
 */
export interface SecondReading {
  /** The words of each simple command, as written and in no particular order; one without words is not among them. */
  readonly commands: readonly (readonly string[])[];
  /** The files that redirections open, as written. */
  readonly targets: readonly string[];
}

/** How deep substitutions and groups may nest. */
export const MAX_NESTING = 40;

export function parseAgain(source: string): SecondReading | undefined {
  const found: PieceReading = { commands: [], targets: [] };
  return readPiece(source, 'script', 0, found) ? found : undefined;
}

/** Whether two readings hold the same commands and open the same files. */
export function isSameReading(one: SecondReading, other: SecondReading): boolean {
  return same(one.commands.map(joined), other.commands.map(joined)) && same(one.targets, other.targets);
}

function joined(words: readonly string[]): string {
  return words.join('\0');
}

function same(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false;
  const sorted = others.toSorted();
  return some.toSorted().every((text, at) => text === sorted[at]);
}

interface PieceReading {
  commands: string[][];
  targets: string[];
}

interface Heredoc {
  readonly end: string;
  readonly quoted: boolean;
  readonly tabs: boolean;
}

const WORD_END = /[ \t\n;&|<>()]/;
/** Words in front of a command that belong to the grammar. */
const RESERVED = new Set(['{', '}', '!', 'if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done', 'time']);
const UNREAD = new Set(['function', 'coproc', 'esac', 'in', ']]']);
/** Builtins that take assignments as arguments, arrays too. */
const DECLARING = /^(declare|typeset|local|export|readonly)$/;
/** `<(` and `>(` are words. */
const REDIRECTION = /^(?:\d*(?:<<<|<<-|<<(?!<)|<>|<&|>>|>\||>&|[<>](?!\())|&>>|&>)/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

/** Those of `$'…'` that every reader takes for the same character: one of ASCII, and not the one that ends a string. */
const PLAIN_ESCAPES =
  /^(?:[^\\]|\\[abeEfnrtv\\'"?]|\\(?!000|0{1,2}(?![0-7]))(?:[01][0-7]{2}|[0-7]{1,2}(?![0-7]))|\\x(?:0[1-9a-fA-F]|[1-7][\da-fA-F]|[1-9a-fA-F](?![\da-fA-F])))*$/;

/** False where it was not understood. A `text` is the body of a heredoc: only substitutions count in it. */
function readPiece(source: string, kind: 'script' | 'text', depth: number, found: PieceReading): boolean {
  let at = 0;
  let lost = depth > MAX_NESTING;
  let heredocs: Heredoc[] = [];
  if (kind === 'text') quoted('', depth);
  else list('', depth);
  return !lost && at >= source.length && heredocs.length === 0;

  function giveUp(): void {
    lost = true;
    at = source.length;
  }

  function sees(text: string): boolean {
    return source.startsWith(text, at);
  }

  /** Blanks, continued lines and a comment. */
  function blanks(): void {
    for (;;) {
      if (source[at] === ' ' || source[at] === '\t') at++;
      else if (sees('\\\n')) at += 2;
      else break;
    }
    if (source[at] === '#') while (at < source.length && source[at] !== '\n') at++;
  }

  function newline(): void {
    at++;
    const bodies = heredocs;
    heredocs = [];
    for (const heredoc of bodies) body(heredoc);
  }

  function body({ end, quoted: literal, tabs }: Heredoc) {
    const start = at;
    let before = '';
    while (at < source.length) {
      const eol = source.indexOf('\n', at);
      const stop = eol === -1 ? source.length : eol;
      const line = source.slice(at, stop);
      if ((tabs ? line.replace(/^\t+/, '') : line) === end) {
        // A continued line takes the one below with it.
        if (!literal && before.endsWith('\\')) return giveUp();
        const text = source.slice(start, at);
        at = Math.min(stop + 1, source.length);
        if (!literal && !readPiece(text, 'text', depth + 1, found)) giveUp();
        return;
      }
      before = line;
      at = stop + 1;
    }
    giveUp();
  }

  /** Commands up to `until`, which is left standing: `)` for a group, `;;` for a case. */
  function list(until: '' | ')' | ';;', level: number) {
    if (level > MAX_NESTING) return giveUp();
    while (at < source.length) {
      blanks();
      const character = source[at];
      if (character === undefined) break;
      if (until !== '' && sees(until)) return;
      if (until === ';;' && sees(';&')) return;
      if (until === ';;' && /^esac(?![^\s;&|<>()])/.test(source.slice(at, at + 5))) return;
      if (character === '\n') newline();
      else if (character === ';' || character === '|') at++;
      else if (character === '&' && source[at + 1] !== '>') at++;
      else if (sees('((')) arithmetic(2);
      else if (character === '(') group(level);
      else if (character === ')') return giveUp();
      else command(level);
    }
    if (until !== '') giveUp();
  }

  function group(level: number) {
    // A heredoc that begins on one side of a parenthesis and whose text stands on the other is not for us.
    if (heredocs.length > 0) return giveUp();
    at++;
    list(')', level + 1);
    if (heredocs.length > 0) return giveUp();
    at++;
  }

  /** Numbers and operators in double parentheses, of which `length` characters open them. */
  function arithmetic(length: number) {
    const end = source.indexOf('))', at);
    if (end === -1 || /[^\d\s+\-*/%<>=!&|^?:,]/.test(source.slice(at + length, end))) return giveUp();
    at = end + 2;
  }

  function command(level: number) {
    const words: string[] = [];
    while (at < source.length) {
      blanks();
      if (redirection(level)) continue;
      if (at >= source.length || /[\n;&|)]/.test(source[at] ?? '')) break;
      const word = read(level, words.length === 0 || DECLARING.test(words[0] ?? ''));
      if (lost) return;
      if (words.length === 0) {
        if (ASSIGNMENT.test(word)) continue;
        if (RESERVED.has(word)) return reserved(word);
        if (word === 'for' || word === 'select') return loop(level);
        if (word === 'case') return choice(level);
        if (word === '[[') return condition(level);
        if (UNREAD.has(word) || /^\w+\[/.test(word)) return giveUp();
      }
      words.push(word);
    }
    if (words.length > 0) found.commands.push(words);
  }

  /** The next word stands where a command stands. `time` has an option of its own. */
  function reserved(word: string): void {
    if (word !== 'time') return;
    blanks();
    if (source[at] === '-') giveUp();
  }

  function loop(level: number): void {
    blanks();
    read(level, false);
    blanks();
    if (!/^in(?=\s)/.test(source.slice(at, at + 3))) return;
    at += 2;
    wordsUntilEnd(level);
  }

  function wordsUntilEnd(level: number): void {
    for (blanks(); at < source.length && !/[\n;]/.test(source[at] ?? ''); blanks()) {
      read(level, false);
    }
  }

  function choice(level: number) {
    blanks();
    read(level, false);
    spaces();
    if (!/^in\s/.test(source.slice(at, at + 3))) return giveUp();
    at += 2;
    for (spaces(); at < source.length; spaces()) {
      if (sees('(')) at++;
      for (blanks(); at < source.length && source[at] !== ')'; blanks()) {
        if (source[at] === '|') at++;
        else if (read(level, false) === 'esac') return;
      }
      at++;
      list(';;', level + 1);
      if (source[at] === ';') while (/[;&]/.test(source[at] ?? '')) at++;
    }
    giveUp();
  }

  /** Blanks and new lines. */
  function spaces(): void {
    for (blanks(); source[at] === '\n'; blanks()) newline();
  }

  function condition(level: number) {
    for (spaces(); at < source.length; spaces()) {
      if (/[&|()<>]/.test(source[at] ?? '')) at++;
      else {
        const word = read(level, false);
        if (word === ']]') return;
        if (word === '=~') return giveUp();
      }
    }
    giveUp();
  }

  /** True when there was one. */
  function redirection(level: number): boolean {
    const operator = REDIRECTION.exec(source.slice(at, at + 12))?.[0];
    if (operator === undefined) return false;
    at += operator.length;
    blanks();
    const target = read(level, false);
    if (/<<-?$/.test(operator)) {
      // Quotes and backslashes only: a name that is computed is none.
      if (/[$`\n]/.test(target)) giveUp();
      const end = target.replace(/['"\\]/g, '');
      heredocs.push({ end, quoted: end !== target, tabs: operator.endsWith('-') });
    } else if (!operator.endsWith('<<<') && !(operator.endsWith('&') && /^(\d+|-|\d+-)$/.test(target))) {
      found.targets.push(target);
    }
    return true;
  }

  /** One word, as written. */
  function read(level: number, mayAssign: boolean): string {
    const start = at;
    while (at < source.length) {
      const character = source[at] ?? '';
      if (character === '(' && mayAssign && /^[A-Za-z_]\w*\+?=$/.test(source.slice(start, at))) array(level);
      else if (character === '(') giveUp();
      else if (/[<>]/.test(character) && source[at + 1] === '(') {
        at++;
        group(level);
      } else if (WORD_END.test(character)) break;
      else piece(level);
    }
    if (at === start) giveUp();
    return source.slice(start, at);
  }

  function array(level: number): void {
    at++;
    for (spaces(); at < source.length && source[at] !== ')'; spaces()) {
      read(level, false);
    }
    at++;
  }

  /** One character, one quotation or one expansion. */
  function piece(level: number): void {
    const character = source[at];
    if (character === '\\') {
      if (source[at + 1] === '\n') giveUp();
      else at += 2;
    } else if (character === "'") close("'");
    else if (character === '"') {
      at++;
      quoted('"', level);
      at++;
    } else if (sees("$'")) escaped();
    // Translated first, by a list that a variable names, and what the translation holds is expanded.
    else if (sees('$"')) giveUp();
    else if (!expansion(level)) at++;
  }

  function close(mark: string): void {
    const end = source.indexOf(mark, at + 1);
    if (end === -1) giveUp();
    else at = end + 1;
  }

  function escaped(): void {
    const start = at + 2;
    for (at = start; at < source.length && source[at] !== "'"; at++) if (source[at] === '\\') at++;
    if (at >= source.length || !PLAIN_ESCAPES.test(source.slice(start, at))) giveUp();
    else at++;
  }

  /** Text in which only substitutions count, up to `end`, which is left standing; or to the end of all. */
  function quoted(end: '"' | '', level: number): void {
    while (at < source.length) {
      if (end !== '' && source[at] === end) return;
      if (source[at] === '\\') at += 2;
      else if (!expansion(level)) at++;
    }
    if (end !== '') giveUp();
  }

  /** True when there was one at this place. */
  function expansion(level: number): boolean {
    if (level > MAX_NESTING) giveUp();
    else if (sees('$((')) arithmetic(3);
    else if (sees('$(')) {
      at++;
      group(level);
    } else if (sees('${')) parameter(level);
    else if (source[at] === '`') backticks(level);
    else return false;
    return true;
  }

  function parameter(level: number) {
    at += 2;
    // `${ ls; }` and `${| ls; }` run commands.
    if (/[\s|]/.test(source[at] ?? ' ')) return giveUp();
    while (at < source.length && source[at] !== '}') {
      // Where it stands decides what a single quote means in here.
      if (/[\n(']/.test(source[at] ?? '')) giveUp();
      else piece(level + 1);
    }
    at++;
  }

  function backticks(level: number): void {
    const start = at + 1;
    close('`');
    const inner = source.slice(start, at - 1);
    // Each level of backslashes means something else.
    if (!lost && (inner.includes('\\') || !readPiece(inner, 'script', level + 1, found))) giveUp();
  }
}
