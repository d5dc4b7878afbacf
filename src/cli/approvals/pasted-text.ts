import { PassThrough } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Io } from '../io.ts';
import type { Words } from '../text/words.ts';

const [PASTE_START, PASTE_END] = ['\x1b[200~', '\x1b[201~'];
const [PASTE_ON, PASTE_OFF] = ['\x1b[?2004h', '\x1b[?2004l'];
/** A longer paste would make each key slow. */
const MAX_LINE_CHARS = 500;

/**
 * The keys of a terminal, in which a pasted text of several lines stands as one word such as `[pasted 1: 12 lines]`, so
 * that it is edited and sent as one message. `restore` puts the texts back.
 */
export class PastedText {
  readonly keys: PassThrough & Io['stdin'];
  readonly #io: Pick<Io, 'stdin' | 'stdout'>;
  readonly #words: Words;
  readonly #decoder = new StringDecoder('utf8');
  readonly #texts = new Map<string, string>();
  /** The paste under way; undefined between pastes. */
  #pasted: string | undefined;
  /** The beginning of a marker at the end of what came so far. */
  #rest = '';
  readonly #take = (chunk: Buffer | string) => this.#read(this.#decoder.write(Buffer.from(chunk)));
  readonly #end = () => this.keys.end();

  constructor(io: Pick<Io, 'stdin' | 'stdout'>, words: Words) {
    this.#io = io;
    this.#words = words;
    const setRawMode = io.stdin.setRawMode?.bind(io.stdin);
    this.keys = Object.assign(new PassThrough(), { isTTY: true, ...(setRawMode && { setRawMode }) });
    io.stdin.on('end', this.#end);
    this.resume();
  }

  /** The line as it was pasted and typed. */
  restore(line: string): string {
    let whole = line;
    for (const [word, text] of this.#texts) whole = whole.replaceAll(word, () => text);
    return whole;
  }

  resume(): void {
    this.#io.stdin.on('data', this.#take);
    this.#io.stdin.resume();
    this.#io.stdout.write(PASTE_ON);
  }

  /** Leaves the terminal to another program. */
  pause(): void {
    this.#io.stdout.write(PASTE_OFF);
    this.#io.stdin.off('data', this.#take);
    this.#io.stdin.pause();
  }

  close(): void {
    this.pause();
    this.#io.stdin.off('end', this.#end);
  }

  #read(chunk: string): void {
    let text = this.#rest + chunk;
    this.#rest = '';
    while (text !== '') {
      const marker = this.#pasted === undefined ? PASTE_START : PASTE_END;
      const at = text.indexOf(marker);
      if (at === -1) {
        const kept = text.length - beginningAtEnd(text, marker);
        this.#rest = text.slice(kept);
        this.#pass(text.slice(0, kept));
        return;
      }
      this.#pass(text.slice(0, at));
      this.#toggle();
      text = text.slice(at + marker.length);
    }
  }

  #pass(text: string): void {
    if (this.#pasted !== undefined) this.#pasted += text;
    else if (text !== '') this.keys.write(text);
  }

  #toggle(): void {
    const pasted = this.#pasted;
    this.#pasted = pasted === undefined ? '' : undefined;
    if (pasted !== undefined) this.keys.write(this.#asWord(pasted));
  }

  #asWord(pasted: string): string {
    // Control characters would be obeyed as keys.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about.
    const text = pasted.replace(/\r\n?/g, '\n').replace(/[\x00-\x08\x0b-\x1f\x7f]/g, '');
    const trimmed = text.replace(/\n+$/, '');
    if (!/[\n\t]/.test(trimmed) && trimmed.length <= MAX_LINE_CHARS) return trimmed;
    const word = this.#words.pasted(this.#texts.size + 1, trimmed.split('\n').length);
    this.#texts.set(word, trimmed);
    return word;
  }
}

/** Characters at the end of the text that may be the beginning of the marker. One that is a key by itself is none. */
function beginningAtEnd(text: string, marker: string): number {
  for (let length = marker.length - 1; length > 1; length--) if (text.endsWith(marker.slice(0, length))) return length;
  return 0;
}
