import type { LiveEvent, StoredEvent } from '../kernel/call/event.ts';
import type { SecretHider } from './hide-secrets.ts';

/**
 * Hides secrets in text that comes in pieces. The end of a piece that may begin a secret is held back and returned with the
 * next piece, or by `flush`.
 */
export class StreamHider {
  readonly #hider: SecretHider;
  #held = '';

  constructor(hider: SecretHider) {
    this.#hider = hider;
  }

  /** Returns the text that can be shown now. */
  add(text: string): string {
    const all = this.#held + text;
    const length = this.#hider.certainLength(all);
    this.#held = all.slice(length);
    return this.#hider.hide(all.slice(0, length));
  }

  /** Returns the text that was held back, when nothing more comes. */
  flush(): string {
    const rest = this.#hider.hide(this.#held);
    this.#held = '';
    return rest;
  }
}

type Streamed = LiveEvent<'message.streamed'>;

/**
 * Hides secrets in a model's words as they arrive, also where a secret comes in pieces. The returned function takes every
 * event of a run: words that were held back are passed on before the next event.
 */
export function hideInModelStream(
  hider: SecretHider,
  tell: (event: Streamed) => void,
): (event: StoredEvent | LiveEvent) => void {
  const stream = new StreamHider(hider);
  let last: Streamed | undefined;

  function tellText(event: Streamed, text: string): void {
    if (text !== '') tell({ ...event, data: { ...event.data, text } });
  }

  return (event) => {
    const words = event.type === 'message.streamed' ? event : undefined;
    if (last !== undefined && words?.data.kind !== last.data.kind) tellText(last, stream.flush());
    last = words !== undefined && COMES_IN_PIECES[words.data.kind] ? words : undefined;
    if (words !== undefined) tellText(words, last ? stream.add(words.data.text) : hider.hide(words.data.text));
  };
}

const COMES_IN_PIECES: Record<Streamed['data']['kind'], boolean> = {
  text: true,
  thinking: true,
  call: false,
  restarted: false,
};
