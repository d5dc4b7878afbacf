import { HIDDEN } from '../kernel/text/invisible.ts';
import type { Assignment, SimpleCommand } from './simple-command.ts';
import type { ShellWord } from './words.ts';

/** Of more commands none is judged by itself, but all of them as a text: a reader may stop behind this many. */
export const MAX_COMMANDS = 500;

/** The commands of a plain script. Pipelines in order, for each stage its command. */
export interface PlainScript {
  readonly commands: readonly SimpleCommand[];
  readonly pipelines: readonly (readonly (readonly SimpleCommand[])[])[];
}

/** Words that the grammar reads in front of a command. */
const RESERVED = new Set(
  '! [[ ]] { } case coproc do done elif else esac fi for function if in select then time until while'.split(' '),
);
/** Output that is dropped or joined with another stream; `&>` is left out, which a POSIX shell reads otherwise. */
const STREAMS = /(?:[12]?>>?|<)[ \t]*\/dev\/null(?=[\s;|&]|$)|[12]?>&[12](?=[\s;|&]|$)/y;
const JOINTS = /&&|\|\||\||;|\n/y;
const PLAIN = /[\w./:=@%+,^\-\u00a1-\uffff]+/y;
const GLOB = /[*?[\]]+/y;
const SINGLE = /'([^']*)'/y;
const DOUBLE = /"((?:[^"\\$`]|\\[^\n])*)"/y;
const ESCAPED = /\\([^\n\w])/y;
const NAME = /^[A-Za-z_]\w*=/;

/**
 * Reads a plain script: words, quotes, patterns, assignments in front of a command, `&&`, `||`, `;`, `|`, line breaks, and streams that
 * are dropped or joined. Undefined for every other script. All shells read such a script alike, so that an allow rule can rely on its words.
 * Behind more than MAX_COMMANDS commands it stops.
 */
export function readPlain(source: string): PlainScript | undefined {
  if (HIDDEN.first.test(source)) return undefined;
  const commands: SimpleCommand[] = [];
  const pipelines: SimpleCommand[][][] = [];
  let pipeline: SimpleCommand[][] = [];
  let at = 0;
  for (let isOpen = false; ; ) {
    const command = readCommand();
    if (command === undefined) return undefined;
    if (command !== null) {
      commands.push(command);
      pipeline.push([command]);
    }
    const joint = take(JOINTS)?.[0];
    if (joint === undefined && at < source.length) return undefined;
    const isSeparator = joint === undefined || joint === '\n' || joint === ';';
    // Nothing stands between two joints, but an empty line.
    if (command === null && (isOpen || joint === ';' || !isSeparator)) {
      if (joint !== '\n') return undefined;
      continue;
    }
    isOpen = !isSeparator;
    if (joint !== '|') {
      if (pipeline.length > 1) pipelines.push(pipeline);
      pipeline = [];
    }
    if (joint === undefined || commands.length > MAX_COMMANDS) return { commands, pipelines };
  }

  function take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found !== null) at = pattern.lastIndex;
    return found;
  }

  /** Null where there is none, undefined where it is not plain. */
  function readCommand(): SimpleCommand | null | undefined {
    const words: ShellWord[] = [];
    const assignments: Assignment[] = [];
    let [start, end] = [-1, -1];
    for (;;) {
      while (source[at] === ' ' || source[at] === '\t') at++;
      if (start === -1) start = at;
      if (at >= source.length || /[\n;|&]/.test(source[at] as string)) break;
      if (take(STREAMS) === null) {
        const word = readWord();
        if (word === undefined) return undefined;
        const isFirst = words.length === 0;
        if (isFirst && NAME.test(word.text)) assignments.push(assignmentOf(word));
        else if (isFirst && (RESERVED.has(word.text) || /^[A-Za-z_]\w*(?:\+=|\[)/.test(word.text))) return undefined;
        else words.push(word);
      }
      end = at;
    }
    if (end === -1) return null;
    // A redirection alone, or beside assignments alone, is no command.
    if (words.length === 0 && assignments.length === 0) return undefined;
    return { text: source.slice(start, end), words, assignments, redirections: [], input: undefined };
  }

  function readWord(): ShellWord | undefined {
    const start = at;
    let [value, pattern, home] = ['', false, false];
    if (source[at] === '#') return undefined;
    for (let part = readPart(); part !== null; part = readPart()) value += part;
    const text = source.slice(start, at);
    if (text === '' || (at < source.length && !/[\s;|&]/.test(source[at] as string))) return undefined;
    // Braces of find and xargs, and the program `[`.
    if (text === '{}' || text === '[' || text === ']') return plain(text, text);
    return home ? { ...plain(text, text), value: null, home } : { ...plain(text, value), pattern };

    function readPart(): string | null {
      const whole = take(PLAIN)?.[0];
      if (whole !== undefined) return whole;
      const glob = take(GLOB)?.[0];
      if (glob !== undefined) {
        pattern = true;
        return glob;
      }
      const quoted = take(SINGLE)?.[1];
      if (quoted !== undefined) return quoted;
      const double = take(DOUBLE)?.[1];
      if (double !== undefined) return double.replace(/\\([$`"\\])/g, '$1');
      const escaped = take(ESCAPED)?.[1];
      if (escaped !== undefined) return escaped;
      if (source[at] === '#' || source[at] === '!') return source[at++] as string;
      if (source[at] === '{' && at === start && /^\{\}(?:[\s;|&]|$)/.test(source.slice(at, at + 3))) {
        at += 2;
        return '{}';
      }
      return source[at] === '~' ? readTilde() : null;
    }

    /** A home in front, and a character inside; behind `=` and `:` some shells expand it as well. */
    function readTilde(): string | null {
      if (at > start) return /[=:]/.test(source[at - 1] as string) ? null : (source[at++] as string);
      if (!/^~(?:[/\s;|&]|$)/.test(source.slice(at, at + 2))) return null;
      home = true;
      return source[at++] as string;
    }
  }
}

function plain(text: string, value: string): ShellWord {
  return { text, value, seen: value, pattern: false, home: false, runs: false };
}

function assignmentOf({ text }: ShellWord): Assignment {
  return { name: text.slice(0, text.indexOf('=')), text, computed: false };
}
