export type Style = 'markdown' | 'text';

type Mark = 'strong' | 'em' | 'del' | 'code' | 'a';

interface OpenMark {
  readonly mark: Mark;
  readonly href: string | null;
  start: number;
}

const FENCES: Readonly<Record<Exclude<Mark, 'a' | 'code'>, string>> = { strong: '**', em: '*', del: '~~' };
/** Text of an anchor beside a heading. */
const PERMALINK = /^(#|¶|§|🔗|⚓|link|permalink|link to this (heading|section)|edit)?$/iu;

/** The running text of one block: white space as a browser shows it, and marks around marked text. */
export class InlineText {
  readonly #style: Style;
  #parts: string[] = [];
  #marks: OpenMark[] = [];
  #endsOpen = true;
  #hasText = false;
  /** Characters read, and those of them in links. */
  length = 0;
  linkLength = 0;

  constructor(style: Style) {
    this.#style = style;
  }

  add(text: string): void {
    let shown = text.replace(/[\u200b\ufeff]+/g, '').replace(/\s+/g, ' ');
    if (this.#endsOpen && shown.startsWith(' ')) shown = shown.slice(1);
    if (shown === '') return;
    this.#parts.push(shown);
    this.#endsOpen = shown.endsWith(' ');
    this.#hasText ||= shown !== ' ';
    this.length += shown.length;
    if (this.#marks.some(({ mark }) => mark === 'a')) this.linkLength += shown.length;
  }

  /** Adds text without collapsing or counting it: an image, a line break. */
  addRaw(text: string): void {
    // A run of spaces would slow down every pattern that searches beyond it.
    if (text === ' ' && this.#endsOpen) return;
    this.#parts.push(text);
    this.#hasText ||= text.trim() !== '';
    this.#endsOpen = text.endsWith('\n') || text.endsWith(' ');
  }

  /** Returns false when the same mark is already open; then nothing has to be closed either. */
  openMark(mark: Mark, href: string | null = null): boolean {
    if (this.#marks.some((each) => each.mark === mark || each.mark === 'code')) return false;
    this.#marks.push({ mark, href, start: this.#parts.length });
    return true;
  }

  closeMark(mark: Mark): void {
    const at = this.#marks.findLastIndex((each) => each.mark === mark);
    const closed = this.#marks.splice(at).reverse();
    for (const each of closed) this.#wrap(each);
    // Marks that were crossed continue after it.
    for (const each of closed.slice(0, -1).reverse()) this.#marks.push({ ...each, start: this.#parts.length });
  }

  /** Returns the text so far, trimmed; open marks continue in the next block. */
  take(): { text: string; length: number; linkLength: number } {
    for (const mark of [...this.#marks].reverse()) this.#wrap(mark);
    const text = this.#parts.join('').trim().replace(/ +\n/g, '\n');
    const { length, linkLength } = this;
    for (const mark of this.#marks) mark.start = 0;
    [this.#parts, this.#endsOpen, this.length, this.linkLength] = [[], true, 0, 0];
    this.#hasText = false;
    return { text, length, linkLength };
  }

  get isEmpty(): boolean {
    return !this.#hasText;
  }

  #wrap({ mark, href, start }: OpenMark): void {
    const inner = this.#parts.splice(start).join('');
    const text = inner.trim();
    if (text === '') {
      if (inner !== '') this.#parts.push(inner);
      return;
    }
    const before = inner.startsWith(' ') || inner.startsWith('\n') ? ' ' : '';
    const after = inner.endsWith(' ') || inner.endsWith('\n') ? ' ' : '';
    this.#parts.push(`${before}${this.#marked(mark, href, text)}${after}`);
  }

  #marked(mark: Mark, href: string | null, text: string): string {
    if (mark === 'a') {
      if (href === null || this.#style === 'text') return text;
      return `[${text.replace(/\s*\n\s*/g, ' ')}](${href})`;
    }
    if (this.#style === 'text') return text;
    if (mark === 'code') return inCode(text);
    return `${FENCES[mark]}${text}${FENCES[mark]}`;
  }
}

/** Whether a link only marks a position of the page. */
export function isPermalink(text: string): boolean {
  return PERMALINK.test(text.trim());
}

function inCode(text: string): string {
  const longest = longestRun(text);
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `\`${text}\`` : `${fence} ${text} ${fence}`;
}

/** Returns the longest run of backticks, at most 20. */
export function longestRun(text: string): number {
  for (let length = 20; length > 0; length--) if (text.includes('`'.repeat(length))) return length;
  return 0;
}
