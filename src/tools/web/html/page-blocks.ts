import type { Heading } from '../page-section.ts';

export interface Block {
  readonly text: string;
  /** Follows the block before without an empty line. */
  readonly tight: boolean;
  readonly length: number;
  readonly linkLength: number;
  readonly heading: number;
  /** Code or a table. */
  readonly solid: boolean;
}

interface Range {
  readonly start: number;
  end: number;
}

interface Container extends Range {
  readonly kind: 'main' | 'article' | 'around' | 'perhaps around' | 'note' | 'box';
}

/** Share of the running text that makes a part the main content: a menu too many is better than a paragraph too few. */
const ALL_BUT_A_LINE = 0.95;
const SOME = 0.25;
const HALF = 0.5;
const FEW_CHARACTERS = 140;

/** Twice the largest page; more comes only from a page that multiplies its own text. */
const MAX_TEXT_CHARS = 10 * 1024 * 1024;
const LEFT_OUT = '[The rest is omitted: the page has too much text.]';

/** A page as a list of blocks, and the parts of the page they belong to. */
export class PageBlocks {
  readonly #blocks: Block[] = [];
  readonly #containers: Container[] = [];
  #size = 0;
  #isFull = false;

  add(block: Block): void {
    this.#size += block.text.length;
    if (this.#size <= MAX_TEXT_CHARS) this.#blocks.push(block);
    else if (!this.#isFull) this.#blocks.push({ ...block, text: LEFT_OUT, length: 0, linkLength: 0, heading: 0 });
    this.#isFull = this.#size > MAX_TEXT_CHARS;
  }

  open(kind: Container['kind']): Container {
    const container = { kind, start: this.#blocks.length, end: -1 };
    this.#containers.push(container);
    return container;
  }

  close(container: Container): void {
    container.end = this.#blocks.length;
  }

  /** Returns the main content without its surroundings, unless hardly anything would be left. */
  mainText(): { text: string; headings: Heading[] } {
    const whole = { start: 0, end: this.#blocks.length };
    const isKept = this.#without(this.#containers.filter(this.#aroundness()));
    const left = this.#runningText(isKept)(whole);
    const all = this.#blocks.reduce((total, { length, linkLength }) => total + length - linkLength, 0);
    if (left < all * SOME) isKept.fill(1);
    const range = this.#mainRange(isKept);
    const chosen = this.#blocks.filter((_, index) => isKept[index] === 1 && index >= range.start && index < range.end);
    return joined([...this.#missingTitle(range), ...chosen]);
  }

  /** Decides whether an element that only looks like surroundings is one: a menu, or next to no text. */
  #aroundness(): (container: Container) => boolean {
    const textIn = this.#sumOf(({ length }) => length);
    const linksIn = this.#sumOf(({ linkLength }) => linkLength);
    const partsIn = this.#sumOf(({ heading, solid }) => (heading > 0 || solid ? 1 : 0));
    const content = hull(this.#containers.filter(({ kind }) => kind === 'main' || kind === 'article'));
    return (container) => {
      const { kind, start, end } = container;
      if (kind !== 'perhaps around' && kind !== 'note') return kind === 'around';
      if (content !== undefined && (end <= content.start || start >= content.end)) return true;
      const [text, links] = [textIn(container), linksIn(container)];
      if (links > text * HALF) return true;
      return kind === 'perhaps around' && (partsIn(container) === 0 || text - links < FEW_CHARACTERS);
    };
  }

  /** 1 for every block outside all ranges. */
  #without(ranges: readonly Range[]): Uint8Array {
    const depth = new Int32Array(this.#blocks.length + 1);
    for (const { start, end } of ranges) {
      depth[start] = (depth[start] ?? 0) + 1;
      depth[end] = (depth[end] ?? 0) - 1;
    }
    const isKept = new Uint8Array(this.#blocks.length);
    let open = 0;
    for (let index = 0; index < isKept.length; index++) {
      open += depth[index] ?? 0;
      isKept[index] = open === 0 ? 1 : 0;
    }
    return isKept;
  }

  /** Range of <main>, of all articles, or of the innermost box, if hardly any running text is outside it. */
  #mainRange(isKept: Uint8Array): Range {
    const whole = { start: 0, end: this.#blocks.length };
    const textIn = this.#runningText(isKept);
    const total = textIn(whole);
    const main = hull(this.#containers.filter(({ kind }) => kind === 'main'));
    if (main !== undefined && textIn(main) >= Math.min(FEW_CHARACTERS, total * SOME)) return main;
    const articles = hull(this.#containers.filter((each) => each.kind === 'article' && textIn(each) > 0));
    const boxes = this.#containers
      .filter(({ kind }) => kind === 'box')
      .sort((a, b) => a.end - a.start - (b.end - b.start) || b.start - a.start);
    const ranges = articles === undefined ? boxes : [articles, ...boxes];
    return ranges.find((range) => textIn(range) >= total * ALL_BUT_A_LINE) ?? whole;
  }

  /** Counts text outside links. */
  #runningText(isKept: Uint8Array): (range: Range) => number {
    return this.#sumOf(({ length, linkLength }, index) => (isKept[index] === 1 ? length - linkLength : 0));
  }

  /** Prefix sums, so that every range costs the same. */
  #sumOf(value: (block: Block, index: number) => number): (range: Range) => number {
    const before = new Float64Array(this.#blocks.length + 1);
    this.#blocks.forEach((block, index) => {
      before[index + 1] = (before[index] ?? 0) + value(block, index);
    });
    return ({ start, end }) => (before[end] ?? 0) - (before[start] ?? 0);
  }

  /** The page's first heading, where it is above the chosen part. */
  #missingTitle({ start }: Range): Block[] {
    const inside = this.#blocks.findIndex(({ heading }, index) => heading === 1 && index >= start);
    const title = this.#blocks.find(({ heading }, index) => heading === 1 && index < start);
    return inside === -1 && title !== undefined ? [title] : [];
  }
}

function hull(ranges: readonly Range[]): Range | undefined {
  if (ranges.length === 0) return undefined;
  let [start, end] = [Number.POSITIVE_INFINITY, 0];
  for (const range of ranges) [start, end] = [Math.min(start, range.start), Math.max(end, range.end)];
  return { start, end };
}

function joined(blocks: readonly Block[]): { text: string; headings: Heading[] } {
  const parts: string[] = [];
  const headings: Heading[] = [];
  let length = 0;
  for (const { text, tight, heading } of blocks) {
    const gap = parts.length === 0 ? '' : tight ? '\n' : '\n\n';
    length += gap.length;
    if (heading > 0) headings.push({ level: heading, text, at: length });
    parts.push(gap, text);
    length += text.length;
  }
  return { text: parts.join(''), headings };
}
