import type { Io } from '../io.ts';

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  /** One line that fits the terminal. */
  line(text: string, indent?: number): string;
}

/** Colours only for a terminal, and never against NO_COLOR; FORCE_COLOR gives them anyway. */
export function styleFor({ stdout, env }: Io): Style {
  const wanted = env.FORCE_COLOR ? env.FORCE_COLOR !== '0' : stdout.isTTY === true && env.TERM !== 'dumb';
  const on = wanted && !env.NO_COLOR;
  const paint = (start: number, end: number) => (text: string) => (on ? `\x1b[${start}m${text}\x1b[${end}m` : text);
  // A terminal that does not know its width says 0.
  const columns = stdout.columns || 80;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    red: paint(31, 39),
    green: paint(32, 39),
    yellow: paint(33, 39),
    line(text, indent = 0) {
      const plain = harmless(text).replace(/\s+/g, ' ').trim();
      const room = Math.max(20, columns - indent - 1);
      return plain.length > room ? `${plain.slice(0, room - 1)}…` : plain;
    },
  };
}

/** Control characters, and what turns the direction of writing: a terminal obeys them, whoever wrote them. */
const OBEYED = /[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu;
const LAYOUT: Readonly<Record<string, string>> = { '\n': '\n', '\t': '\t', '\r': '' };

/** Text of a tool or a model as it may be written to a terminal: shown, never obeyed. Line ends and tabs stay. */
export function harmless(text: string): string {
  return text.replace(OBEYED, (char) => LAYOUT[char] ?? `\\x${hex(char, 2)}`);
}

/** The same value to whoever reads it, also where a terminal does: JSON leaves some of what is obeyed as it is. */
export function toJson(value: unknown, indent?: number): string {
  const text = JSON.stringify(value, null, indent) ?? '';
  return text.replace(OBEYED, (char) => (char === '\n' ? char : `\\u${hex(char, 4)}`));
}

function hex(char: string, digits: number): string {
  return char.charCodeAt(0).toString(16).padStart(digits, '0');
}
