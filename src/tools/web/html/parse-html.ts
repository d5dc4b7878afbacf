import { type QuoteType, Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import { createYielder } from '../../../kernel/yielding.ts';

export type Attributes = Readonly<Record<string, string>>;

/** Called in order; every `open` has exactly one `close`, whatever the page omits. */
export interface HtmlEvents {
  /** Whether such an element has nothing for a reader; it is opened and closed at any depth. */
  hides(name: string, attributes: Attributes): boolean;
  open(name: string, attributes: Attributes): void;
  text(text: string): void;
  close(name: string): void;
}

const CHUNK = 32 * 1024;
/** Deeper elements count as part of the one at this depth, which bounds every walk over ancestors. */
const MAX_DEPTH = 200;
const MAX_VALUE_CHARS = 4096;

/**
 * Parses a page in slices, in linear time: the stack is bounded and there is no recursion. `goOn` is called between
 * slices; it may throw to end the parsing.
 */
export async function parseHtml(html: string, events: HtmlEvents, goOn: () => void): Promise<void> {
  const parser = new HtmlStack(html, events);
  const tokenizer = new Tokenizer({ decodeEntities: true }, parser);
  const yielder = createYielder();
  for (let at = 0; at < html.length; at += CHUNK) {
    tokenizer.write(html.slice(at, at + CHUNK));
    if (!yielder.isDue()) continue;
    await yielder.pause();
    goOn();
  }
  tokenizer.end();
  parser.closeAll();
}

const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
const KEPT = new Set(
  'href src alt title class id role hidden style aria-hidden colspan rowspan type name property content start lang data-lang data-language'.split(
    ' ',
  ),
);
const CELLS = new Set(['td', 'th', 'table']);
const BLOCKS = new Set(
  (
    'address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form ' +
    'h1 h2 h3 h4 h5 h6 header hgroup hr html li main menu nav ol p pre section summary table tbody td tfoot th thead tr ul'
  ).split(' '),
);
const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6'];
const NOT_P = new Set([...BLOCKS].filter((name) => name !== 'p'));

/** Elements an opening tag closes first, unless one of the second set is between. */
const CLOSES = new Map<string, readonly [targets: ReadonlySet<string>, barriers: ReadonlySet<string>]>([
  ...[...BLOCKS].map((name) => [name, [new Set(['p']), NOT_P]] as const),
  ...HEADINGS.map(
    (name) => [name, [new Set(['p', ...HEADINGS]), new Set([...NOT_P].filter((n) => n[0] !== 'h'))]] as const,
  ),
  ['li', [new Set(['li']), new Set(['ul', 'ol', 'menu', 'dir', ...CELLS])]],
  ['dt', [new Set(['dt', 'dd']), new Set(['dl', ...CELLS])]],
  ['dd', [new Set(['dt', 'dd']), new Set(['dl', ...CELLS])]],
  ['td', [new Set(['td', 'th']), new Set(['tr', 'table'])]],
  ['th', [new Set(['td', 'th']), new Set(['tr', 'table'])]],
  ['tr', [new Set(['tr']), new Set(['table'])]],
  ...['thead', 'tbody', 'tfoot'].map((n) => [n, [new Set(['thead', 'tbody', 'tfoot']), new Set(['table'])]] as const),
  ['a', [new Set(['a']), CELLS]],
]);

class HtmlStack implements TokenizerCallbacks {
  readonly #html: string;
  readonly #events: HtmlEvents;
  readonly #stack: string[] = [];
  /** Number of open elements of a name beyond the maximum depth. */
  readonly #beyond = new Map<string, number>();
  /** The one of them that hides its content, by its number within its name. */
  #hiding: { readonly name: string; readonly open: number } | null = null;
  #name = '';
  #attributes: Record<string, string> = {};
  #attribute = '';
  #value = '';

  constructor(html: string, events: HtmlEvents) {
    this.#html = html;
    this.#events = events;
  }

  onopentagname(start: number, end: number): void {
    this.#name = this.#html.slice(start, end).toLowerCase();
    this.#attributes = {};
  }
  onattribname(start: number, end: number): void {
    const name = end - start > 20 ? '' : this.#html.slice(start, end).toLowerCase();
    this.#attribute = KEPT.has(name) ? name : '';
    this.#value = '';
  }
  onattribdata(start: number, end: number): void {
    const room = MAX_VALUE_CHARS - this.#value.length;
    if (this.#attribute !== '' && room > 0) this.#value += this.#html.slice(start, Math.min(end, start + room));
  }
  onattribentity(codepoint: number): void {
    if (this.#attribute !== '' && this.#value.length < MAX_VALUE_CHARS) this.#value += String.fromCodePoint(codepoint);
  }
  onattribend(_quote: QuoteType): void {
    if (this.#attribute !== '') this.#attributes[this.#attribute] ??= this.#value;
  }
  onopentagend(): void {
    this.#open(this.#name, this.#attributes);
  }
  onselfclosingtag(): void {
    this.#open(this.#name, this.#attributes);
  }
  onclosetag(start: number, end: number): void {
    this.#close(this.#html.slice(start, end).toLowerCase());
  }
  ontext(start: number, end: number): void {
    this.#events.text(this.#html.slice(start, end));
  }
  ontextentity(codepoint: number): void {
    this.#events.text(String.fromCodePoint(codepoint));
  }
  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  closeAll(): void {
    this.#popTo(0);
  }

  #open(name: string, attributes: Attributes): void {
    const closes = CLOSES.get(name);
    // Beyond the maximum depth the order is unknown, so nothing is implied there.
    if (closes !== undefined && this.#beyond.size === 0) this.#closeImplied(closes[0], closes[1]);
    if (VOID.has(name)) {
      this.#events.open(name, attributes);
      this.#events.close(name);
    } else if (this.#stack.length < MAX_DEPTH) {
      this.#stack.push(name);
      this.#events.open(name, attributes);
    } else {
      this.#openBeyond(name, attributes);
    }
  }

  #openBeyond(name: string, attributes: Attributes): void {
    const open = (this.#beyond.get(name) ?? 0) + 1;
    this.#beyond.set(name, open);
    if (BLOCKS.has(name)) this.#events.text(' ');
    if (this.#hiding !== null || !this.#events.hides(name, attributes)) return;
    this.#hiding = { name, open };
    this.#events.open(name, attributes);
  }

  #close(name: string): void {
    const beyond = this.#beyond.get(name);
    if (beyond !== undefined) {
      if (this.#hiding?.name === name && this.#hiding.open === beyond) this.#endHiding();
      if (beyond === 1) this.#beyond.delete(name);
      else this.#beyond.set(name, beyond - 1);
      return;
    }
    const at = this.#stack.lastIndexOf(name);
    // A stray end tag in a cell does not end the table around it.
    if (at === -1 || (!BLOCKS.has(name) && this.#stack.slice(at).some((each) => CELLS.has(each)))) return;
    this.#popTo(at);
  }

  #endHiding(): void {
    const { name } = this.#hiding ?? {};
    this.#hiding = null;
    if (name !== undefined) this.#events.close(name);
  }

  #closeImplied(targets: ReadonlySet<string>, barriers: ReadonlySet<string>): void {
    for (let at = this.#stack.length - 1; at >= 0; at--) {
      const name = this.#stack[at] ?? '';
      if (targets.has(name)) this.#popTo(at);
      if (targets.has(name) || barriers.has(name)) return;
    }
  }

  #popTo(length: number): void {
    if (this.#stack.length > length) {
      this.#endHiding();
      this.#beyond.clear();
    }
    while (this.#stack.length > length) this.#events.close(this.#stack.pop() ?? '');
  }
}
