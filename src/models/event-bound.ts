/** Far above anything a model says in one event; more is a broken stream and would only eat memory. */
const LONGEST_EVENT = 8 * 1024 * 1024;
/** Two ends of lines in a row, where a line ends with LF, CR LF or CR. */
const BLANK_LINES = ['\n\n', '\n\r', '\r\r'];

/** Watches server-sent events go by, in chunks cut anywhere. Throws on a flood. */
export class EventBound {
  #size = 0;
  #last = '';

  add(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const blank = Math.max(...BLANK_LINES.map((line) => bytes.lastIndexOf(line)));
    if (blank !== -1) this.#size = bytes.length - blank;
    else this.#size = bytes.length + (this.#isBlankBefore(bytes) ? 0 : this.#size);
    this.#last = bytes.toString('latin1', bytes.length - 1);
    if (this.#size > LONGEST_EVENT) throw new Error('it sent an event larger than 8 MB');
  }

  #isBlankBefore(bytes: Buffer): boolean {
    return BLANK_LINES.includes(this.#last + bytes.toString('latin1', 0, 1));
  }
}
