import type { Heading } from '../page-section.ts';
import { seenText } from '../seen-text.ts';
import { hiddenSelectors, isHidden, isSkipped } from './element-kinds.ts';
import type { Style } from './inline-text.ts';
import { PageWriter } from './page-writer.ts';
import { type Attributes, type HtmlEvents, parseHtml } from './parse-html.ts';

export interface HtmlOptions {
  /** Where the page came from, so that links can be made absolute. */
  readonly url: string;
  readonly style: Style;
  /** Asked now and then; throws to end the conversion. */
  goOn?(): void;
}

export interface ReadablePage {
  readonly title: string | null;
  readonly text: string;
  readonly headings: readonly Heading[];
}

/** What a reader of the page would read, as markdown or as plain text. Takes turns with other work. */
export async function htmlToMarkdown(html: string, options: HtmlOptions): Promise<ReadablePage> {
  const reader = new PageReader(options);
  await parseHtml(html, reader, options.goOn ?? (() => {}));
  return reader.page();
}

const LONGEST_TITLE = 500;
const LONGEST_SHEET = 200_000;

/** Leaves out what is not seen, and hands the rest on. */
class PageReader implements HtmlEvents {
  readonly #writer: PageWriter;
  readonly #hidden = new Set<string>();
  #skipped = 0;
  #collecting: 'title' | 'style' | null = null;
  #titleDone = false;
  #title = '';
  #socialTitle = '';
  #sheet = '';

  constructor({ url, style }: HtmlOptions) {
    this.#writer = new PageWriter(url, style);
  }

  hides(name: string, attributes: Attributes): boolean {
    // A question that unfolds its answer is a button, and the answer says little without it.
    const isSeenButton = name === 'button' && this.#writer.isInHeading;
    if ((isSkipped(name) && !isSeenButton) || name === 'title') return true;
    return !NEVER_HIDDEN.has(name) && isHidden(attributes, this.#hidden);
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'style') this.#collecting = 'style';
    if (this.#skipped > 0 || this.hides(name, attributes)) {
      if (name === 'title' && this.#skipped === 0) this.#collecting = this.#titleDone ? null : 'title';
      this.#skipped++;
      return;
    }
    if (name === 'meta') this.#meta(attributes);
    if (name === 'base') this.#writer.rebase(attributes['href'] ?? '');
    if (!IN_HEAD.has(name)) this.#writer.open(name, attributes);
  }

  text(text: string): void {
    if (this.#collecting === 'title' && this.#title.length < LONGEST_TITLE) this.#title += text;
    else if (this.#collecting === 'style' && this.#sheet.length < LONGEST_SHEET) this.#sheet += text;
    if (this.#skipped === 0) this.#writer.text(text);
  }

  close(name: string): void {
    if (name === 'style') {
      for (const selector of hiddenSelectors(this.#sheet)) this.#hidden.add(selector);
      this.#sheet = '';
    }
    if (name === 'title') this.#titleDone = true;
    if (name === 'style' || name === 'title') this.#collecting = null;
    if (this.#skipped > 0) this.#skipped--;
    else if (!IN_HEAD.has(name)) this.#writer.close(name);
  }

  page(): ReadablePage {
    const title = seenText(this.#title || this.#socialTitle)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, LONGEST_TITLE);
    return { title: title === '' ? null : title, ...this.#writer.finish() };
  }

  #meta({ property, content }: Attributes): void {
    if (property === 'og:title' && content !== undefined) this.#socialTitle = content;
  }
}

const IN_HEAD = new Set(['head', 'link', 'meta', 'base']);
const NEVER_HIDDEN = new Set(['body', 'html', ...IN_HEAD]);
