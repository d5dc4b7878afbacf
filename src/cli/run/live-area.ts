import type { Io } from '../io.ts';

/** Lines at the end of a terminal that are drawn again and again. All other output must `clear` them first. */
export interface LiveArea {
  readonly isShown: boolean;
  draw(lines: readonly string[]): void;
  clear(): void;
}

/** Draws nothing where stdout is no terminal that moves its cursor. */
export function createLiveArea({ stdout, env }: Pick<Io, 'stdout' | 'env'>): LiveArea {
  const isShown = stdout.isTTY === true && env.TERM !== 'dumb';
  let drawn = 0;
  const clear = () => {
    if (drawn > 0) stdout.write(`\x1b[${drawn}A\r\x1b[J`);
    drawn = 0;
  };
  return {
    isShown,
    clear,
    draw(lines) {
      if (!isShown) return;
      clear();
      // A line that wraps would count as two.
      const room = (stdout.columns || 80) - 1;
      stdout.write(lines.map((line) => `\x1b[2m${fitted(line, room)}\x1b[22m\n`).join(''));
      drawn = lines.length;
    },
  };
}

/** As much of a line as fits into so many columns; wide characters take two. */
function fitted(line: string, room: number): string {
  let columns = 0;
  let end = 0;
  for (const char of line) {
    columns += (char.codePointAt(0) ?? 0) < 0x1100 ? 1 : 2;
    if (columns > room) break;
    end += char.length;
  }
  return line.slice(0, end);
}
