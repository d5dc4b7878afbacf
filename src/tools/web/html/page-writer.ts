import { BLOCKS, isAround } from './element-kinds.ts';
import { InlineText, isPermalink, longestRun, type Style } from './inline-text.ts';
import { linkTarget } from './link-target.ts';
import { PageBlocks } from './page-blocks.ts';
import type { Attributes } from './parse-html.ts';
import { type Cell, isLayout, tableText } from './table-text.ts';

type Container = ReturnType<PageBlocks['open']>;

interface Element {
  readonly name: string;
  readonly container: Container | null;
  /** What closing it has to do besides. */
  readonly onClose: (() => void) | null;
}

interface Prefix {
  readonly kind: 'item' | 'quote';
  /** Null once it was written. */
  first: string | null;
  readonly rest: string;
}

interface List {
  readonly ordered: boolean;
  next: number;
}

interface Table {
  readonly rows: Cell[][];
  row: Cell[] | null;
  cell: { text: InlineText; header: boolean; columns: number; rows: number } | null;
}

const MARKS: Readonly<Record<string, 'strong' | 'em' | 'del' | 'code'>> = {
  b: 'strong',
  strong: 'strong',
  em: 'em',
  i: 'em',
  del: 'del',
  s: 'del',
  strike: 'del',
  code: 'code',
  kbd: 'code',
  samp: 'code',
  tt: 'code',
};
const BOXES = new Set(['div', 'section', 'td', 'form', 'center', 'body', 'blockquote', 'fieldset']);
const LINE_NUMBERS = /(^|[\s_-])(line-?numbers?|lineno|linenos|gutter|blob-num)([\s_-]|$)/i;
const ENDS_TABLE = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'table', 'article', 'main', 'blockquote']);

/** Lists in lists in lists: deeper ones stand where this one does. */
const DEEPEST_PREFIX = 12;

/** Writes elements as blocks of text, one after the other, while they come. */
export class PageWriter {
  readonly #blocks = new PageBlocks();
  readonly #style: Style;
  readonly #stack: Element[] = [];
  readonly #lists: List[] = [];
  readonly #prefixes: Prefix[] = [];
  #flow: InlineText;
  #base: string;
  #heading = 0;
  #content = 0;
  #pre: { language: string; parts: string[] } | null = null;
  #language = '';
  #numbers = 0;
  #tables: Table[] = [];
  /** Whether the block before was part of the same list. */
  #inList = false;

  constructor(url: string, style: Style) {
    this.#base = url;
    this.#style = style;
    this.#flow = new InlineText(style);
  }

  rebase(href: string): void {
    this.#base = linkTarget(href, this.#base) ?? this.#base;
  }

  open(name: string, attributes: Attributes): void {
    this.#stack.push(this.#opened(name, attributes));
  }

  text(text: string): void {
    if (this.#numbers > 0) return;
    if (this.#pre !== null) this.#pre.parts.push(text);
    else (this.#table?.cell?.text ?? this.#flow).add(text);
  }

  close(_name: string): void {
    const { container, onClose, name } = this.#stack.pop() ?? { container: null, onClose: null, name: '' };
    onClose?.();
    if (container === null && !BLOCKS.has(name)) return;
    this.#flush();
    if (container !== null) this.#blocks.close(container);
    if (container?.kind === 'main' || container?.kind === 'article') this.#content--;
  }

  finish(): string {
    while (this.#stack.length > 0) this.close('');
    this.#flush();
    return this.#blocks.mainText();
  }

  get #table(): Table | undefined {
    return this.#tables.at(-1);
  }

  #opened(name: string, attributes: Attributes): Element {
    if (this.#table?.cell && ENDS_TABLE.has(name)) this.#dissolveTable();
    const container = this.#containerOf(name, attributes);
    if (BLOCKS.has(name) || container !== null) this.#breakBlock(name);
    if (container?.kind === 'main' || container?.kind === 'article') this.#content++;
    return { name, container, onClose: this.#started(name, attributes) };
  }

  #containerOf(name: string, attributes: Attributes): Container | null {
    if (this.#table?.cell) return null;
    if (name === 'main' || attributes['role'] === 'main') return this.#begin('main');
    if (isAround(name, attributes, this.#content > 0)) return this.#begin('around');
    if (name === 'article') return this.#begin('article');
    return BOXES.has(name) ? this.#begin('box') : null;
  }

  #begin(kind: Container['kind']): Container {
    this.#flush();
    return this.#blocks.open(kind);
  }

  /** In a cell, blocks follow each other on one line. */
  #breakBlock(name: string): void {
    const cell = this.#table?.cell;
    if (cell) cell.text.addRaw(name === 'li' ? ' • ' : ' ');
    else this.#flush();
  }

  #started(name: string, attributes: Attributes): (() => void) | null {
    const mark = this.#pre === null ? MARKS[name] : undefined;
    if (mark !== undefined) return this.#mark(mark);
    if (LINE_NUMBERS.test(attributes['class'] ?? '') && (this.#pre !== null || name === 'td'))
      return this.#skipNumbers();
    this.#language = languageOf(attributes) ?? this.#language;
    switch (name) {
      case 'h1':
      case 'h2':
      case 'h3':
      case 'h4':
      case 'h5':
      case 'h6':
        return this.#startHeading(Number(name[1]));
      case 'a':
        return this.#link(attributes['href']);
      case 'br':
        return this.#lineBreak();
      case 'hr':
        return this.#rule();
      case 'img':
        return this.#image(attributes);
      case 'pre':
        return this.#startPre();
      case 'code':
        if (this.#pre !== null) this.#pre.language ||= this.#language;
        return null;
      case 'ul':
      case 'ol':
      case 'menu':
        return this.#startList(name === 'ol', Number(attributes['start'] ?? 1));
      case 'li':
        return this.#startItem();
      case 'blockquote':
        return this.#prefix('quote', '> ', '> ');
      case 'dt':
      case 'summary':
        return this.#mark('strong');
      case 'dd':
        this.#inList = true;
        return this.#prefix('item', '  ', '  ');
      case 'table':
        return this.#startTable(attributes);
      case 'tr':
        return this.#startRow();
      case 'td':
      case 'th':
        return this.#startCell(name === 'th', attributes);
      default:
        return null;
    }
  }

  get #inline(): InlineText {
    return this.#table?.cell?.text ?? this.#flow;
  }

  #mark(mark: 'strong' | 'em' | 'del' | 'code'): (() => void) | null {
    const inline = this.#inline;
    // A heading is strong already.
    if (this.#heading > 0 && mark === 'strong') return null;
    return inline.openMark(mark) ? () => inline.closeMark(mark) : null;
  }

  #link(href = ''): (() => void) | null {
    const inline = this.#inline;
    const isPlace = href.startsWith('#');
    if (isPlace && this.#heading > 0) return this.#permalink();
    const target = linkTarget(href, this.#base);
    return inline.openMark('a', target) ? () => inline.closeMark('a') : null;
  }

  /** In a heading, a link to a place of the page is that heading's own: its text stays, its sign goes. */
  #permalink(): () => void {
    const outer = this.#flow;
    const inner = new InlineText(this.#style);
    this.#flow = inner;
    return () => {
      const { text } = inner.take();
      this.#flow = outer;
      if (!isPermalink(text)) outer.add(text);
    };
  }

  #lineBreak(): null {
    if (this.#pre !== null) this.#pre.parts.push('\n');
    else this.#inline.addRaw(this.#heading > 0 || this.#table?.cell ? ' ' : '\n');
    return null;
  }

  #rule(): null {
    this.#flush();
    if (!this.#table?.cell && this.#style === 'markdown') this.#emit('---', { length: 0, linkLength: 0 });
    return null;
  }

  #image({ alt = '', src = '' }: Attributes): null {
    const target = linkTarget(src, this.#base);
    const text = alt.replace(/\s+/g, ' ').trim();
    if (this.#pre !== null || text === '' || target === null) return null;
    this.#inline.addRaw(this.#style === 'text' ? text : `![${text}](${target})`);
    return null;
  }

  #startHeading(level: number): () => void {
    this.#flush();
    this.#heading = level;
    return () => {
      this.#flush();
      this.#heading = 0;
    };
  }

  #startPre(): (() => void) | null {
    if (this.#pre !== null) return null;
    this.#pre = { language: this.#language, parts: [] };
    return () => {
      const { language, parts } = this.#pre ?? { language: '', parts: [] };
      this.#pre = null;
      this.#language = '';
      const code = parts
        .join('')
        .replace(/\r\n?/g, '\n')
        .replace(/^\n+|\s+$/g, '');
      if (code === '') return;
      const fence = '`'.repeat(Math.max(3, longestRun(code) + 1));
      const text = this.#style === 'text' ? code : `${fence}${language}\n${code}\n${fence}`;
      this.#emit(text, { length: code.length, linkLength: 0 });
    };
  }

  #skipNumbers(): () => void {
    this.#numbers++;
    return () => {
      this.#numbers--;
    };
  }

  #startList(ordered: boolean, start: number): () => void {
    this.#lists.push({ ordered, next: Number.isSafeInteger(start) ? start : 1 });
    return () => {
      this.#flush();
      this.#lists.pop();
      if (this.#lists.length === 0) this.#inList = false;
    };
  }

  #startItem(): (() => void) | null {
    if (this.#table?.cell) return null;
    const list = this.#lists.at(-1);
    const marker = list?.ordered ? `${list.next++}. ` : '- ';
    return this.#prefix('item', marker, ' '.repeat(marker.length));
  }

  #prefix(kind: Prefix['kind'], first: string, rest: string): (() => void) | null {
    if (this.#table?.cell || this.#prefixes.length >= DEEPEST_PREFIX) return null;
    this.#prefixes.push({ kind, first, rest });
    return () => {
      this.#flush();
      this.#prefixes.pop();
    };
  }

  #startTable(attributes: Attributes): (() => void) | null {
    if (attributes['role'] === 'presentation' || attributes['role'] === 'none') return null;
    const table: Table = { rows: [], row: null, cell: null };
    this.#tables.push(table);
    return () => {
      this.#endCell();
      if (this.#tables.at(-1) === table) this.#tables.pop();
      this.#writeTable(table);
    };
  }

  #startRow(): null {
    const row: Cell[] = [];
    this.#table?.rows.push(row);
    if (this.#table) this.#table.row = row;
    return null;
  }

  #startCell(header: boolean, { colspan, rowspan }: Attributes): (() => void) | null {
    const table = this.#table;
    if (!table) return null;
    if (table.row === null) this.#startRow();
    const [columns, rows] = [spanOf(colspan), spanOf(rowspan)];
    table.cell = { text: new InlineText(this.#style), header, columns, rows };
    return () => this.#endCell();
  }

  #endCell(): void {
    const table = this.#table;
    if (!table?.cell) return;
    const { text, header, columns, rows } = table.cell;
    table.row?.push({ text: text.take().text.replace(/\s+/g, ' ').trim(), header, columns, rows });
    table.cell = null;
  }

  #writeTable({ rows }: Table): void {
    const length = rows.reduce((total, row) => total + row.reduce((sum, { text }) => sum + text.length, 0), 0);
    if (isLayout(rows)) {
      for (const { text } of rows.flat()) if (text !== '') this.#emit(text, { length: text.length, linkLength: 0 });
      return;
    }
    const text = tableText(rows, this.#style);
    if (text !== '') this.#emit(text, { length, linkLength: 0 });
  }

  /** A table with headings or code in its cells is there to place things: its cells become blocks of the page. */
  #dissolveTable(): void {
    for (const table of this.#tables.splice(0)) {
      const cell = table.cell?.text.take().text ?? '';
      for (const text of [...table.rows.flat().map((each) => each.text), cell]) {
        if (text !== '') this.#emit(text, { length: text.length, linkLength: 0 });
      }
      table.rows.length = 0;
    }
  }

  #flush(): void {
    if (this.#table?.cell || this.#pre !== null) return;
    if (this.#flow.isEmpty) return;
    const { text, length, linkLength } = this.#flow.take();
    if (text === '') return;
    const level = this.#heading;
    const line = level > 0 ? text.replace(/\s*\n\s*/g, ' ') : text;
    const isMarked = level > 0 && this.#style === 'markdown';
    this.#emit(isMarked ? `${'#'.repeat(level)} ${line}` : line, { length, linkLength, heading: level });
  }

  #emit(text: string, { length, linkLength, heading = 0 }: Measures): void {
    const prefixes = this.#prefixes;
    const isItem = prefixes.some(({ kind }) => kind === 'item');
    const startsItem = prefixes.some(({ kind, first }) => kind === 'item' && first !== null);
    const written = prefixes.length === 0 ? text : prefixed(text, prefixes);
    for (const each of prefixes) if (each.kind === 'item') each.first = null;
    this.#blocks.add({ text: written, tight: startsItem && this.#inList, length, linkLength, heading });
    this.#inList = isItem;
  }
}

interface Measures {
  readonly length: number;
  readonly linkLength: number;
  readonly heading?: number;
}

function prefixed(text: string, prefixes: readonly Prefix[]): string {
  const rest = prefixes.map((each) => each.rest).join('');
  const first = prefixes.map((each) => each.first ?? each.rest).join('');
  return text
    .split('\n')
    .map((line, index) => (index === 0 ? first : rest) + line)
    .join('\n');
}

function languageOf({
  class: classes = '',
  lang,
  'data-lang': data,
  'data-language': full,
}: Attributes): string | null {
  const named = /(?:^|\s)(?:language|lang|highlight-source|brush:?)[-\s:]\s*([\w+#-]+)/i.exec(classes)?.[1];
  const found = named ?? full ?? data ?? null;
  return found === null || lang === found ? (named ?? null) : found.toLowerCase();
}

function spanOf(text: string | undefined): number {
  const span = Number.parseInt(text ?? '1', 10);
  return Number.isFinite(span) && span > 0 ? Math.min(span, 100) : 1;
}
