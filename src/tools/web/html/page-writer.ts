import { visibleText } from '../visible-text.ts';
import { aroundKind, BLOCKS } from './element-kinds.ts';
import { InlineText, isPermalink, longestRun, type Style } from './inline-text.ts';
import { LinePrefixes } from './line-prefixes.ts';
import { linkTarget } from './link-target.ts';
import { PageBlocks } from './page-blocks.ts';
import type { Attributes } from './parse-html.ts';
import { TableWriter } from './table-writer.ts';

type Container = ReturnType<PageBlocks['open']>;

interface Element {
  readonly name: string;
  readonly container: Container | null;
  /** Additional work on closing. */
  readonly onClose: (() => void) | null;
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
const NAMES_PART = new Set(['dt', 'summary']);
/** 2 to the power of 10 must not read as 210. */
const POWER = /^[-+−]?(\d|[a-z]$)/i;
const LINE_NUMBERS = /(^|[\s_-])(line-?numbers?|lineno|linenos|gutter|blob-num)([\s_-]|$)/i;
const ENDS_TABLE = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'table', 'article', 'main', 'blockquote']);

/** Writes elements as blocks of text as they arrive. */
export class PageWriter {
  readonly #blocks = new PageBlocks();
  readonly #style: Style;
  readonly #stack: Element[] = [];
  readonly #prefixes = new LinePrefixes();
  readonly #tables: TableWriter;
  #flow: InlineText;
  #base: string;
  #heading = 0;
  #content = 0;
  #pre: { language: string; parts: string[] } | null = null;
  #language = '';
  #numbers = 0;
  #isRaised = false;
  #isRebased = false;

  constructor(url: string, style: Style) {
    this.#base = url;
    this.#style = style;
    this.#flow = new InlineText(style);
    this.#tables = new TableWriter(style);
  }

  /** Whether the next text names the part below it. */
  get isInHeading(): boolean {
    return this.#heading > 0 || NAMES_PART.has(this.#stack.at(-1)?.name ?? '');
  }

  /** Sets the base URL; only the first one counts, as in a browser. */
  rebase(href: string): void {
    if (this.#isRebased) return;
    this.#isRebased = true;
    this.#base = linkTarget(href, this.#base) ?? this.#base;
  }

  open(name: string, attributes: Attributes): void {
    this.#stack.push(this.#opened(name, attributes));
  }

  text(text: string): void {
    if (this.#numbers > 0) return;
    if (this.#pre !== null) this.#pre.parts.push(text);
    else this.#inline.add(this.#isRaised && POWER.test(text) ? `^${text}` : text);
    this.#isRaised = false;
  }

  close(_name: string): void {
    const { container, onClose, name } = this.#stack.pop() ?? { container: null, onClose: null, name: '' };
    onClose?.();
    if (container === null && !BLOCKS.has(name)) return;
    this.#flush();
    if (container !== null) this.#blocks.close(container);
    if (container?.kind === 'main' || container?.kind === 'article') this.#content--;
  }

  finish(): ReturnType<PageBlocks['mainText']> {
    while (this.#stack.length > 0) this.close('');
    this.#flush();
    return this.#blocks.mainText();
  }

  #opened(name: string, attributes: Attributes): Element {
    if (this.#tables.cell !== null && ENDS_TABLE.has(name)) this.#emitAll(this.#tables.dissolve());
    const container = this.#containerOf(name, attributes);
    if (BLOCKS.has(name) || container !== null) this.#breakBlock(name);
    if (container?.kind === 'main' || container?.kind === 'article') this.#content++;
    return { name, container, onClose: this.#started(name, attributes) };
  }

  #containerOf(name: string, attributes: Attributes): Container | null {
    if (this.#tables.cell !== null) return null;
    if (name === 'main' || attributes['role'] === 'main') return this.#begin('main');
    const around = aroundKind(name, attributes, this.#content > 0);
    if (around !== null) return this.#begin(around);
    if (name === 'article') return this.#begin('article');
    return BOXES.has(name) ? this.#begin('box') : null;
  }

  #begin(kind: Container['kind']): Container {
    this.#flush();
    return this.#blocks.open(kind);
  }

  /** Breaks a block; in a cell, blocks follow each other on one line. */
  #breakBlock(name: string): void {
    if (this.#tables.cell === null) this.#flush();
    else this.#tables.cell.addRaw(name === 'li' ? ' • ' : ' ');
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
      case 'sup':
        this.#isRaised = true;
        return () => {
          this.#isRaised = false;
        };
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
        return this.#prefixed(() => this.#prefixes.openItem());
      case 'blockquote':
        return this.#prefixed(() => this.#prefixes.openQuote());
      case 'dt':
      case 'summary':
        return this.#mark('strong');
      case 'dd':
        return this.#prefixed(() => this.#prefixes.openMeaning());
      case 'table':
        return this.#startTable(attributes);
      case 'tr':
        this.#tables.startRow();
        return null;
      case 'td':
      case 'th':
        this.#tables.startCell(name === 'th', attributes);
        return () => this.#tables.endCell();
      default:
        return null;
    }
  }

  get #inline(): InlineText {
    return this.#tables.cell ?? this.#flow;
  }

  #mark(mark: 'strong' | 'em' | 'del' | 'code'): (() => void) | null {
    const inline = this.#inline;
    // A heading is strong already.
    if (this.#heading > 0 && mark === 'strong') return null;
    return inline.openMark(mark) ? () => inline.closeMark(mark) : null;
  }

  #link(href = ''): (() => void) | null {
    this.#isRaised = false;
    const inline = this.#inline;
    const isPlace = href.startsWith('#');
    if (isPlace && this.#heading > 0) return this.#permalink();
    const target = linkTarget(href, this.#base);
    return inline.openMark('a', target) ? () => inline.closeMark('a') : null;
  }

  /** Handles a link to the heading itself: its text stays, its sign is dropped. */
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
    else this.#inline.addRaw(this.#heading > 0 || this.#tables.cell !== null ? ' ' : '\n');
    return null;
  }

  #rule(): null {
    this.#flush();
    if (this.#tables.cell === null && this.#style === 'markdown') this.#emit('---', { length: 0, linkLength: 0 });
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
      const code = parts.join('').replace(/\r\n?/g, '\n').replace(/^\n+/, '').trimEnd();
      if (code === '') return;
      const fence = '`'.repeat(Math.max(3, longestRun(code) + 1));
      const text = this.#style === 'text' ? code : `${fence}${language}\n${code}\n${fence}`;
      this.#emit(text, { length: code.length, linkLength: 0, solid: true });
    };
  }

  #skipNumbers(): () => void {
    this.#numbers++;
    return () => {
      this.#numbers--;
    };
  }

  #startList(ordered: boolean, start: number): () => void {
    this.#prefixes.openList(ordered, start);
    return () => {
      this.#flush();
      this.#prefixes.closeList();
    };
  }

  #prefixed(open: () => boolean): (() => void) | null {
    if (this.#tables.cell !== null || !open()) return null;
    return () => {
      this.#flush();
      this.#prefixes.close();
    };
  }

  #startTable(attributes: Attributes): (() => void) | null {
    const table = this.#tables.open(attributes);
    return table === null ? null : () => this.#emitAll(this.#tables.close(table));
  }

  #flush(): void {
    if (this.#tables.cell !== null || this.#pre !== null) return;
    if (this.#flow.isEmpty) return;
    const { text, length, linkLength } = this.#flow.take();
    if (text === '') return;
    const level = this.#heading;
    const line = level > 0 ? text.replace(/\s*\n\s*/g, ' ') : text;
    const isMarked = level > 0 && this.#style === 'markdown';
    this.#emit(isMarked ? `${'#'.repeat(level)} ${line}` : line, { length, linkLength, heading: level });
  }

  #emitAll(texts: readonly string[]): void {
    for (const text of texts) this.#emit(text, { length: text.length, linkLength: 0, solid: true });
  }

  #emit(text: string, { length, linkLength, heading = 0, solid = false }: Measures): void {
    const { text: written, tight } = this.#prefixes.write(text);
    this.#blocks.add({ text: visibleText(written), tight, length, linkLength, heading, solid });
  }
}

interface Measures {
  readonly length: number;
  readonly linkLength: number;
  readonly heading?: number;
  readonly solid?: boolean;
}

function languageOf({
  class: classes = '',
  lang,
  'data-lang': data,
  'data-language': full,
}: Attributes): string | null {
  const named = /(?:^|\s)(?:(?:language|lang|highlight-source|brush:?)[-\s:]\s*|highlight-)([\w+#-]+)/i.exec(
    classes,
  )?.[1];
  if (named === 'default' || named === 'none') return null;
  const found = named ?? full ?? data ?? null;
  return found === null || lang === found ? (named ?? null) : found.toLowerCase();
}
