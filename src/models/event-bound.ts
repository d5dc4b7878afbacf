/** Far above anything a model says in one event; more is a broken stream and would only eat memory. */
const LONGEST_EVENT = 8 * 1024 * 1024;
/** Where the libraries see the end of an event. What they do not take for one, they go on gathering. */
const BLANK_LINES = ['\n\n', '\r\r', '\r\n\r\n'];
/** So much of a blank line may stand in the chunks before. */
const SEAM = 3;

/** Watches server-sent events go by, in chunks cut anywhere. Throws on a flood. */
export class EventBound {
  #size = 0;
  #last = '';

  add(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const blank = Math.max(...BLANK_LINES.map((line) => bytes.lastIndexOf(line)));
    if (blank !== -1) this.#size = bytes.length - blank;
    else this.#size = bytes.length + (this.#isBlankBefore(bytes) ? 0 : this.#size);
    this.#last = (this.#last + bytes.toString('latin1', Math.max(0, bytes.length - SEAM))).slice(-SEAM);
    if (this.#size > LONGEST_EVENT) throw new Error('it sent an event larger than 8 MB');
  }

  #isBlankBefore(bytes: Buffer): boolean {
    const seam = this.#last + bytes.toString('latin1', 0, SEAM);
    return BLANK_LINES.some((line) => seam.includes(line));
  }
}
