import { InlineText, type Style } from './inline-text.ts';
import type { Attributes } from './parse-html.ts';
import { type Cell, isLayout, tableText } from './table-text.ts';

interface Table {
  readonly rows: Cell[][];
  row: Cell[] | null;
  cell: { text: InlineText; header: boolean; columns: number; rows: number } | null;
}

/** The tables that are open, innermost last. What is written in a cell stays here until its table ends. */
export class TableWriter {
  readonly #style: Style;
  readonly #tables: Table[] = [];

  constructor(style: Style) {
    this.#style = style;
  }

  /** Where text goes while a cell is open. */
  get cell(): InlineText | null {
    return this.#table?.cell?.text ?? null;
  }

  /** Null for a table that says itself that it is none. */
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

  /** The blocks it becomes: one, or one for each cell where it is there only to place things. */
  close(table: Table): string[] {
    this.endCell();
    if (this.#table === table) this.#tables.pop();
    const blocks = isLayout(table.rows)
      ? table.rows.flat().map(({ text }) => text)
      : [tableText(table.rows, this.#style)];
    return blocks.filter((text) => text !== '');
  }

  /** The cells of all open tables as blocks: headings or code in them show that they are there to place things. */
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
