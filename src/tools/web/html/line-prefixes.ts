interface Prefix {
  readonly kind: 'item' | 'quote';
  /** Null once it was written. */
  first: string | null;
  readonly rest: string;
}

/** Deeper lists are written at this depth. */
const MAX_DEPTH = 12;

/** Its digits indent every line of the item. */
const MAX_START = 99_999;

/** Prefixes of the lines of a block, for the lists and quotations it is in. */
export class LinePrefixes {
  readonly #prefixes: Prefix[] = [];
  readonly #lists: { readonly ordered: boolean; next: number }[] = [];
  /** Whether the block before was part of the same list. */
  #inList = false;

  openList(ordered: boolean, start: number): void {
    this.#lists.push({ ordered, next: Number.isInteger(start) && start >= 0 && start <= MAX_START ? start : 1 });
  }

  closeList(): void {
    this.#lists.pop();
    if (this.#lists.length === 0) this.#inList = false;
  }

  /** Returns false when it is too deep; then nothing has to be closed either. */
  openItem(): boolean {
    const list = this.#lists.at(-1);
    const marker = list?.ordered ? `${list.next++}. ` : '- ';
    return this.#open('item', marker, ' '.repeat(marker.length));
  }

  openQuote(): boolean {
    return this.#open('quote', '> ', '> ');
  }

  /** Opens a definition, which is written right below its term. */
  openMeaning(): boolean {
    this.#inList = true;
    return this.#open('item', '  ', '  ');
  }

  close(): void {
    this.#prefixes.pop();
  }

  /** Returns the block with its prefixes, and whether it follows the one before without an empty line. */
  write(text: string): { text: string; tight: boolean } {
    const isItem = this.#prefixes.some(({ kind }) => kind === 'item');
    const startsItem = this.#prefixes.some(({ kind, first }) => kind === 'item' && first !== null);
    const written = this.#prefixes.length === 0 ? text : this.#before(text);
    for (const each of this.#prefixes) if (each.kind === 'item') each.first = null;
    const tight = startsItem && this.#inList;
    this.#inList = isItem;
    return { text: written, tight };
  }

  #open(kind: Prefix['kind'], first: string, rest: string): boolean {
    if (this.#prefixes.length >= MAX_DEPTH) return false;
    this.#prefixes.push({ kind, first, rest });
    return true;
  }

  #before(text: string): string {
    const rest = this.#prefixes.map((each) => each.rest).join('');
    const first = this.#prefixes.map((each) => each.first ?? each.rest).join('');
    return text
      .split('\n')
      .map((line, index) => (index === 0 ? first : rest) + line)
      .join('\n');
  }
}
