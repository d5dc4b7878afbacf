import { request } from 'node:http';
import { connect } from 'node:net';
import type { TestServer } from '../server/test-server.ts';

/** A response as it arrived. */
export interface WireAnswer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | AsyncIterable<Buffer> | null;
}

/** Sends one request exactly as given; `fetch` would correct it. */
export function send({ running }: TestServer, { method, path, headers, body }: WireRequest): Promise<WireAnswer> {
  return new Promise((resolve, reject) => {
    const setHost = headers.Host === undefined;
    let answered = false;
    const asked = request({ host: '127.0.0.1', port: running.port, method, path, headers, setHost }, (response) => {
      answered = true;
      const stream = response.headers['content-type']?.startsWith('text/event-stream');
      const { statusCode: status = 0 } = response;
      if (stream) {
        response.destroy();
        resolve({ status, headers: response.headers, text: '' });
        return;
      }
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('end', () => resolve({ status, headers: response.headers, text }));
      response.on('error', reject);
    });
    asked.setMaxListeners(0);
    asked.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode ?? 101, headers: response.headers, text: 'upgraded' });
    });
    asked.on('error', reject);
    if (typeof body === 'string') asked.end(body);
    else if (body == null) asked.end();
    else void pour(body);

    async function pour(chunks: AsyncIterable<Buffer>): Promise<void> {
      for await (const chunk of chunks) {
        if (asked.destroyed || answered) return;
        if (!asked.write(chunk)) await new Promise((next) => asked.once('drain', next).once('close', next));
      }
      asked.end();
    }
  });
}

/** Bytes on a socket, and the status line that came back; 0 when it was closed without one. */
export function sendRaw({ running }: TestServer, bytes: string): Promise<WireAnswer> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(running.port, '127.0.0.1', () => socket.write(bytes));
    const done = () => {
      socket.destroy();
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), headers: {}, text });
    };
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (text.includes('\r\n\r\n')) done();
    });
    socket.on('close', done).on('error', done);
    socket.setTimeout(15_000, done);
  });
}
