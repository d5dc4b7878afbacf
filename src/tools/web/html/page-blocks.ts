export interface Block {
  readonly text: string;
  /** Directly below the block before, without an empty line. */
  readonly tight: boolean;
  readonly length: number;
  readonly linkLength: number;
  readonly heading: number;
}

interface Range {
  readonly start: number;
  end: number;
}

interface Container extends Range {
  readonly kind: 'main' | 'article' | 'around' | 'box';
}

/** Enough of a page to be what it is about. */
const MOST_OF_IT = 0.7;
const HALF = 0.5;
const SOME = 0.25;
const FEW_CHARACTERS = 200;

/** Twice the largest page there is: more only comes of a page that multiplies its own text. */
const MOST_TEXT = 10 * 1024 * 1024;
const LEFT_OUT = '[The rest is left out: the page unfolds to too much text.]';

/** A page as a list of blocks, and which of them stand in which part of it. */
export class PageBlocks {
  readonly #blocks: Block[] = [];
  readonly #containers: Container[] = [];
  #size = 0;
  #isFull = false;

  add(block: Block): void {
    this.#size += block.text.length;
    if (this.#size <= MOST_TEXT) this.#blocks.push(block);
    else if (!this.#isFull) this.#blocks.push({ ...block, text: LEFT_OUT, length: 0, linkLength: 0, heading: 0 });
    this.#isFull = this.#size > MOST_TEXT;
  }

  open(kind: Container['kind']): Container {
    const container = { kind, start: this.#blocks.length, end: -1 };
    this.#containers.push(container);
    return container;
  }

  close(container: Container): void {
    container.end = this.#blocks.length;
  }

  /** What the page is about, without what stands around it, unless hardly anything would be left. */
  mainText(): string {
    const around = this.#containers.filter(({ kind }) => kind === 'around');
    const kept = this.#without(around);
    const all = sum(this.#blocks, () => true);
    const some = sum(this.#blocks, (_, index) => kept[index] === true);
    const isKept = some >= Math.min(FEW_CHARACTERS, all / 2) ? kept : kept.map(() => true);
    const range = this.#mainRange(isKept);
    const chosen = this.#blocks.filter((_, index) => isKept[index] && index >= range.start && index < range.end);
    return joined([...this.#missingTitle(range, isKept), ...chosen]);
  }

  #without(ranges: readonly Range[]): boolean[] {
    const depth = new Int32Array(this.#blocks.length + 1);
    for (const { start, end } of ranges) {
      depth[start] = (depth[start] ?? 0) + 1;
      depth[end] = (depth[end] ?? 0) - 1;
    }
    let open = 0;
    return this.#blocks.map((_, index) => {
      open += depth[index] ?? 0;
      return open === 0;
    });
  }

  /** <main>, or the one <article>, or the innermost box that holds most of the running text. */
  #mainRange(isKept: readonly boolean[]): Range {
    const whole = { start: 0, end: this.#blocks.length };
    const prefix = new Float64Array(this.#blocks.length + 1);
    for (const [index, { length, linkLength }] of this.#blocks.entries()) {
      prefix[index + 1] = (prefix[index] ?? 0) + (isKept[index] ? length - linkLength : 0);
    }
    const textIn = ({ start, end }: Range) => (prefix[end] ?? 0) - (prefix[start] ?? 0);
    const total = textIn(whole);
    const largest = (kind: Container['kind']) =>
      this.#containers.filter((each) => each.kind === kind).sort((a, b) => textIn(b) - textIn(a))[0];

    const main = largest('main');
    const within = main !== undefined && textIn(main) >= Math.min(FEW_CHARACTERS, total * SOME) ? main : whole;
    const article = largest('article');
    const isInside = article !== undefined && article.start >= within.start && article.end <= within.end;
    if (isInside && textIn(article) >= textIn(within) * (within === main ? MOST_OF_IT : HALF)) return article;
    if (within === main) return main;
    const boxes = this.#containers.filter((each) => each.kind === 'box' && textIn(each) >= total * MOST_OF_IT);
    return boxes.sort((a, b) => a.end - a.start - (b.end - b.start) || b.start - a.start)[0] ?? whole;
  }

  /** The page's first heading belongs to it, also where it stands above the part that was chosen. */
  #missingTitle({ start }: Range, isKept: readonly boolean[]): Block[] {
    const inside = this.#blocks.findIndex(({ heading }, index) => heading === 1 && index >= start);
    const at = this.#blocks.findIndex(({ heading }, index) => heading === 1 && index < start && isKept[index]);
    const title = this.#blocks[at];
    return inside === -1 && title !== undefined ? [title] : [];
  }
}

function joined(blocks: readonly Block[]): string {
  return blocks.map(({ text, tight }, index) => (index === 0 ? '' : tight ? '\n' : '\n\n') + text).join('');
}

function sum(blocks: readonly Block[], counts: (block: Block, index: number) => boolean): number {
  return blocks.reduce((total, block, index) => total + (counts(block, index) ? block.length : 0), 0);
}
