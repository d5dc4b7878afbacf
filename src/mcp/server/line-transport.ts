import type { Readable, Writable } from 'node:stream';
import {
  type JSONRPCMessage,
  ProtocolErrorCode,
  parseJSONRPCMessage,
  serializeMessage,
  type Transport,
} from '@modelcontextprotocol/server';

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * Transports one JSON message a line. A malformed line is answered with an error and does not end the connection. A
 * line
 * that is too long is discarded as it arrives, so that it takes no memory.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport['onmessage'];
  readonly #input: Readable;
  readonly #output: Writable;
  #line: Buffer[] = [];
  #size = 0;
  #tooLong = false;
  #closed = false;

  constructor(input: Readable, output: Writable) {
    this.#input = input;
    this.#output = output;
  }

  async start(): Promise<void> {
    this.#input.on('data', this.#read);
    this.#input.on('end', this.#end);
    this.#input.on('close', this.#end);
    this.#input.on('error', this.#end);
    this.#output.on('error', this.#end);
  }

  /** Resolves when the message is written or buffered; waits for a slow reader. */
  send(message: JSONRPCMessage): Promise<void> {
    if (this.#closed) return Promise.resolve();
    if (this.#output.write(serializeMessage(message))) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.#output.off('drain', done);
        this.#output.off('close', done);
        resolve();
      };
      this.#output.on('drain', done);
      this.#output.on('close', done);
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#input.off('data', this.#read);
    this.#input.pause();
    this.#line = [];
    this.onclose?.();
  }

  readonly #end = () => void this.close();

  readonly #read = (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, end));
      this.#finishLine();
      if (this.#closed) return;
      from = end + 1;
    }
    this.#keep(chunk.subarray(from));
  };

  #keep(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > MAX_LINE_BYTES) {
      this.#tooLong = true;
      this.#line = [];
    } else if (part.length > 0) this.#line.push(part);
  }

  #finishLine(): void {
    const [line, tooLong] = [this.#line, this.#tooLong];
    [this.#line, this.#size, this.#tooLong] = [[], 0, false];
    if (tooLong) {
      this.#refuse(ProtocolErrorCode.InvalidRequest, `A message has at most ${MAX_LINE_BYTES} bytes.`);
      return;
    }
    const text = (line.length === 1 && line[0] !== undefined ? line[0] : Buffer.concat(line)).toString('utf8').trim();
    if (text !== '') this.#receive(text);
  }

  #receive(text: string): void {
    const given = parsed(text, (json) => JSON.parse(json) as unknown);
    if (!given.ok) {
      this.#refuse(ProtocolErrorCode.ParseError, 'This line is not JSON.');
      return;
    }
    const message = parsed(given.value, parseJSONRPCMessage);
    if (message.ok) this.onmessage?.(message.value);
    else this.#refuse(ProtocolErrorCode.InvalidRequest, 'This line is not a JSON-RPC 2.0 message.', idOf(given.value));
  }

  #refuse(code: number, message: string, id: string | number | null = null): void {
    this.onerror?.(new Error(message));
    if (!this.#closed) this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })}\n`);
  }
}

/**
 * Returns the id of a malformed request, so that its sender gets the error. The id of a response is ours and may equal
 * that of another request of the client.
 */
function idOf(given: unknown): string | number | null {
  if (typeof given !== 'object' || given === null || !('method' in given) || !('id' in given)) return null;
  return typeof given.id === 'string' || typeof given.id === 'number' ? given.id : null;
}

function parsed<T, R>(given: T, parse: (given: T) => R): { ok: true; value: R } | { ok: false } {
  try {
    return { ok: true, value: parse(given) };
  } catch {
    return { ok: false };
  }
}
