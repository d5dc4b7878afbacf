import { InlineText, type Style } from './inline-text.ts';
import type { Attributes } from './parse-html.ts';

interface Table {
  readonly rows: Cell[][];
  row: Cell[] | null;
  cell: { text: InlineText; header: boolean; columns: number; rows: number } | null;
}

/** The open tables, innermost last. Text of a cell stays here until its table ends. */
export class TableWriter {
  readonly #style: Style;
  readonly #tables: Table[] = [];

  constructor(style: Style) {
    this.#style = style;
  }

  /** Destination of text while a cell is open. */
  get cell(): InlineText | null {
    return this.#table?.cell?.text ?? null;
  }

  /** Returns null for a table that declares itself as layout. */
  open({ role }: Attributes): Table | null {
    if (role === 'presentation' || role === 'none') return null;
    const table: Table = { rows: [], row: null, cell: null };
    this.#tables.push(table);
    return table;
  }

  startRow(): void {
    const row: Cell[] = [];
    this.#table?.rows.push(row);
    if (this.#table) this.#table.row = row;
  }

  startCell(header: boolean, { colspan, rowspan }: Attributes): void {
    const table = this.#table;
    if (!table) return;
    if (table.row === null) this.startRow();
    table.cell = { text: new InlineText(this.#style), header, columns: spanOf(colspan), rows: spanOf(rowspan) };
  }

  endCell(): void {
    const table = this.#table;
    if (!table?.cell) return;
    const { text, header, columns, rows } = table.cell;
    table.row?.push({ text: text.take().text.replace(/\s+/g, ' ').trim(), header, columns, rows });
    table.cell = null;
  }

  /** Returns the blocks of a table: one, or one for each cell of a layout table. */
  close(table: Table): string[] {
    this.endCell();
    if (this.#table === table) this.#tables.pop();
    const blocks = isLayout(table.rows)
      ? table.rows.flat().map(({ text }) => text)
      : [tableText(table.rows, this.#style)];
    return blocks.filter((text) => text !== '');
  }

  /** Turns the cells of all open tables into blocks: headings or code in them show that they are layout. */
  dissolve(): string[] {
    return this.#tables.splice(0).flatMap((table) => {
      const texts = [...table.rows.flat().map(({ text }) => text), table.cell?.text.take().text ?? ''];
      table.rows.length = 0;
      return texts.filter((text) => text !== '');
    });
  }

  get #table(): Table | undefined {
    return this.#tables.at(-1);
  }
}

function spanOf(text: string | undefined): number {
  const span = Number.parseInt(text ?? '1', 10);
  return Number.isFinite(span) && span > 0 ? Math.min(span, 100) : 1;
}

interface Cell {
  readonly text: string;
  readonly header: boolean;
  readonly columns: number;
  readonly rows: number;
}

const MAX_COLUMNS = 100;
const MAX_ROWSPAN = 200;

/** Formats rows as a markdown table, with spanned cells written out. Empty when there is nothing to show. */
function tableText(rows: readonly (readonly Cell[])[], style: Style): string {
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

/** Whether a table of one cell or one column is layout rather than data. */
function isLayout(rows: readonly (readonly Cell[])[]): boolean {
  return rows.every((row) => row.length <= 1) && !rows.some((row) => row.some(({ header }) => header));
}

const MAX_REPEATED_CHARS = 100;

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
      for (let column = 0; column < columns && row.length < MAX_COLUMNS; column++) {
        // Repeated in each row only if it is short: a page could multiply a long text without end.
        const again = column === 0 && text.length <= MAX_REPEATED_CHARS ? text : '';
        if (spanned > 1) below[row.length] = { text: again, left: Math.min(spanned, MAX_ROWSPAN) - 1 };
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
