import type { Style } from './inline-text.ts';

export interface Cell {
  readonly text: string;
  readonly header: boolean;
  readonly columns: number;
  readonly rows: number;
}

const MOST_COLUMNS = 100;
const MOST_ROWS_SPANNED = 200;

/** Rows of cells as a markdown table, with spanned cells written out. Empty when there is nothing to show. */
export function tableText(rows: readonly (readonly Cell[])[], style: Style): string {
  const grid = spread(rows);
  const width = grid.reduce((most, row) => Math.max(most, row.length), 0);
  const filled = grid.filter((row) => row.some((cell) => cell !== ''));
  if (width === 0 || filled.length === 0) return '';
  const lines = filled.map((row) => Array.from({ length: width }, (_, column) => row[column] ?? ''));
  if (style === 'text') return lines.map((cells) => cells.join(' | ')).join('\n');
  const [head = [], ...body] = lines;
  const row = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |`;
  return [row(head), `|${' --- |'.repeat(width)}`, ...body.map(row)].join('\n');
}

/** A table of one cell or one column is there to place things, not to compare them. */
export function isLayout(rows: readonly (readonly Cell[])[]): boolean {
  return rows.every((row) => row.length <= 1) && !rows.some((row) => row.some(({ header }) => header));
}

const LONGEST_SAID_AGAIN = 100;

function spread(rows: readonly (readonly Cell[])[]): string[][] {
  const below: { text: string; left: number }[] = [];
  return rows.map((cells) => {
    const row: string[] = [];
    const takeSpanned = () => {
      for (let waiting = below[row.length]; waiting !== undefined && waiting.left > 0; waiting = below[row.length]) {
        waiting.left--;
        row.push(waiting.text);
      }
    };
    for (const { text, columns, rows: spanned } of cells) {
      takeSpanned();
      for (let column = 0; column < columns && row.length < MOST_COLUMNS; column++) {
        // Said again in each row only if it is short: a page could multiply a long one without end.
        const again = column === 0 && text.length <= LONGEST_SAID_AGAIN ? text : '';
        if (spanned > 1) below[row.length] = { text: again, left: Math.min(spanned, MOST_ROWS_SPANNED) - 1 };
        row.push(column === 0 ? text : '');
      }
    }
    takeSpanned();
    return row;
  });
}

function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|').replace(/\s*\n\s*/g, ' ');
}
