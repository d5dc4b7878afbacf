/** One server-sent event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
}

/** Far above anything a model says in one event; more is a broken stream and would only eat memory. */
const LONGEST_EVENT = 8 * 1024 * 1024;

/** Server-sent events, from chunks cut anywhere, also inside a character or between CR and LF. Throws on a flood. */
export class EventParser {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #event = '';
  #data: string[] = [];
  #size = 0;

  /** The events that this chunk completes. */
  push(chunk: Uint8Array): ServerEvent[] {
    const events: ServerEvent[] = [];
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    let start = 0;
    for (;;) {
      const end = lineEnd(text, start);
      if (end === undefined) break;
      this.#line(text.slice(start, end.at), events);
      start = end.next;
    }
    this.#rest = text.slice(start);
    this.#mustFit(this.#rest.length);
    return events;
  }

  #line(line: string, events: ServerEvent[]): void {
    if (line === '') {
      if (this.#data.length > 0) events.push({ event: this.#event, data: this.#data.join('\n') });
      this.#event = '';
      this.#data = [];
      this.#size = 0;
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') this.#event = value;
    if (field !== 'data') return;
    this.#data.push(value);
    this.#size += value.length;
    this.#mustFit(0);
  }

  #mustFit(more: number): void {
    if (this.#size + more > LONGEST_EVENT) throw new Error('it sent an event larger than 8 MB');
  }
}

/** CR LF, LF or CR. A CR at the very end may be half of a CR LF, so it waits for the next chunk. */
function lineEnd(text: string, from: number): { at: number; next: number } | undefined {
  const lf = text.indexOf('\n', from);
  const cr = text.indexOf('\r', from);
  if (cr === -1 || (lf !== -1 && lf < cr)) return lf === -1 ? undefined : { at: lf, next: lf + 1 };
  if (cr === text.length - 1) return undefined;
  return { at: cr, next: text[cr + 1] === '\n' ? cr + 2 : cr + 1 };
}
