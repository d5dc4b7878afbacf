import type { Heading } from '../page-section.ts';
import { visibleText } from '../visible-text.ts';
import { hiddenSelectors, isHidden, isSkipped } from './element-kinds.ts';
import type { Style } from './inline-text.ts';
import { PageWriter } from './page-writer.ts';
import { type Attributes, type HtmlEvents, parseHtml } from './parse-html.ts';

export interface HtmlOptions {
  /** URL of the page, for absolute links. */
  readonly url: string;
  readonly style: Style;
  /** Called now and then; throws to end the conversion. */
  goOn?(): void;
}

export interface ReadablePage {
  readonly title: string | null;
  readonly text: string;
  readonly headings: readonly Heading[];
}

/** Converts the visible text of a page to markdown or plain text. Yields to other work. */
export async function htmlToMarkdown(html: string, options: HtmlOptions): Promise<ReadablePage> {
  const reader = new PageReader(options);
  await parseHtml(html, reader, options.goOn ?? (() => {}));
  return reader.page();
}

const MAX_TITLE_CHARS = 500;
const MAX_STYLE_CHARS = 200_000;

/** Drops hidden elements and passes the rest on. */
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
    // A heading button that unfolds an answer is kept: the answer says little without its question.
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
    if (this.#collecting === 'title' && this.#title.length < MAX_TITLE_CHARS) this.#title += text;
    else if (this.#collecting === 'style' && this.#sheet.length < MAX_STYLE_CHARS) this.#sheet += text;
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
    const title = visibleText(this.#title || this.#socialTitle)
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, MAX_TITLE_CHARS);
    return { title: title === '' ? null : title, ...this.#writer.finish() };
  }

  #meta({ property, content }: Attributes): void {
    if (property === 'og:title' && content !== undefined) this.#socialTitle = content;
  }
}

const IN_HEAD = new Set(['head', 'link', 'meta', 'base']);
const NEVER_HIDDEN = new Set(['body', 'html', ...IN_HEAD]);
