import { escapeInvisible, STEERING } from '../../kernel/text/invisible.ts';
import type { Io } from '../io.ts';

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  /** A text in one line, its blanks collapsed; a terminal gets as much of it as fits. */
  line(text: string, indent?: number): string;
  /** One line with its indentation and blanks; a terminal gets as much of it as fits. */
  row(text: string, indent?: number): string;
}

/** Uses colours only on a terminal without NO_COLOR; FORCE_COLOR turns them on anyway. */
export function styleFor({ stdout, env }: Io): Style {
  const wanted = env.FORCE_COLOR ? env.FORCE_COLOR !== '0' : stdout.isTTY === true && env.TERM !== 'dumb';
  const on = wanted && !env.NO_COLOR;
  const paint = (start: number, end: number) => (text: string) => (on ? `\x1b[${start}m${text}\x1b[${end}m` : text);
  // A terminal of unknown width reports 0. A pipe or a file has room for all.
  const columns = stdout.isTTY === true ? stdout.columns || 80 : Infinity;
  const fitted = (text: string, indent: number) => {
    const room = Math.max(20, columns - indent - 1);
    return text.length > room ? `${text.slice(0, room - 1)}…` : text;
  };
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    line: (text, indent = 0) => fitted(harmless(text).replace(/\s+/g, ' ').trim(), indent),
    row: (text, indent = 0) => fitted(harmless(text).replaceAll('\t', '    ').trimEnd(), indent),
  };
}

const LAYOUT: Readonly<Record<string, string>> = { '\n': '\n', '\t': '\t', '\r': '' };

/** Escapes text of a tool or model so that the terminal shows it and never obeys it. Line ends and tabs stay. */
export function harmless(text: string): string {
  return escapeInvisible(text, STEERING, (char) => LAYOUT[char] ?? `\\x${hex(char, 2)}`);
}

/** JSON that is safe to print: control characters that JSON leaves alone are escaped; a parser reads the same value. */
export function toJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? '';
  return escapeInvisible(text, STEERING, (char) => (char === '\n' ? char : `\\u${hex(char, 4)}`));
}

function hex(char: string, digits: number): string {
  return char.charCodeAt(0).toString(16).padStart(digits, '0');
}
