import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const PNG = Buffer.from('89504e470d0a1a0a0000000d4948445200000001000000010806000000', 'hex');

/** A server that does what the `net:` lines of a case say, in words; where they say nothing, it is an ordinary page. */
export function answersFor(setup: readonly string[]): Answer {
  const lines = setup.filter((line) => line.startsWith('net:')).map((line) => line.slice(4).trim());
  const special = lines.map(specialAnswer).find((answer) => answer !== undefined);
  const hops = lines.flatMap(redirectsIn);
  let step = 0;
  return (request, response) => {
    if (special !== undefined) return special(request, response);
    const [host = '', path = '/'] = [request.headers.host, request.url];
    const hop =
      hops.find((each) => each.host === host || each.path === path) ?? hops.find((each) => each.step === step);
    if (hop === undefined) {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<main><p>An ordinary page.</p></main>');
      return;
    }
    step++;
    response.writeHead(hop.status, { location: hop.location }).end();
  };
}

interface Hop {
  readonly host: string | null;
  readonly path: string | null;
  readonly step: number | null;
  readonly status: number;
  readonly location: string;
}

/** `a.test 302 Location URL`, `/x 302 -> /x`, `a.test 301 -> URL`, `301 -> /b -> 200 text`. */
function redirectsIn(line: string): Hop[] {
  const found = /^(\S+)?\s*\b(30[12378])\b\s*(?:->|Location:?)\s*(\S+)/.exec(line);
  if (found === null) return [];
  const [, from = '', status, location = ''] = found;
  const path = from.startsWith('/') ? from : null;
  const host = from === '' || path !== null ? null : from;
  return [{ host, path, step: from === '' ? 0 : null, status: Number(status), location }];
}

/** Whether the server does what a `net:` line says. */
export function isKnownAnswer(line: string): boolean {
  return specialAnswer(line) !== undefined || redirectsIn(line).length > 0;
}

function specialAnswer(line: string): Answer | undefined {
  if (/search backend/.test(line)) return searchResults(line);
  if (/endless|infinite|stops at \d+ MB/i.test(line)) return endless;
  if (/inflates? to/.test(line)) return bomb;
  const repeated = /Content-Encoding:?\s*(\w+) repeated (\d+)/i.exec(line);
  if (repeated !== null) return nested(repeated[1] ?? 'gzip', Number(repeated[2]));
  if (/header byte per second/.test(line)) return slowHeaders;
  if (/body byte per second|byte per second, forever/.test(line)) return slowBody;
  if (/PNG|JPEG|binary|bytes labelled/i.test(line))
    return (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(Buffer.concat([PNG, Buffer.alloc(2000, 0xfe)]));
    };
  const page = /Content-Type: ([^,]+(?:charset=[\w-]+)?), body (.+)$/i.exec(line);
  if (page !== null)
    return (_request, response) => {
      response.writeHead(200, { 'content-type': page[1] ?? '' }).end(bytesOf(page[2] ?? ''));
    };
  if (/ESC/.test(line)) return withControls;
  const cut = /Content-Length:? (\d+), (\d+) bytes/i.exec(line);
  if (cut !== null)
    return (_request, response) => {
      response.writeHead(200, { 'content-length': cut[1] ?? '', 'content-type': 'text/plain' });
      response.write('x'.repeat(Number(cut[2])), () => response.socket?.end());
    };
  return undefined;
}

function searchResults(line: string): Answer {
  const urls = [...line.matchAll(/"([^"]+)"/g)].map(([, url]) => url);
  const results = [...urls, 'https://fine.test/'].map((url) => ({
    title: `About ${url?.split(':')[0]}`,
    url,
    content: '',
  }));
  return (_request, response) => void response.writeHead(200).end(JSON.stringify({ results }));
}

const endless: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' });
  const more = (): void => {
    while (!response.destroyed && response.write('a'.repeat(64 * 1024)));
    if (!response.destroyed) response.once('drain', more);
  };
  more();
};

const bomb: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip' });
  const zeros = Readable.from(
    (function* () {
      for (let sent = 0; sent < 1024; sent++) yield Buffer.alloc(1024 * 1024);
    })(),
  );
  const gzip = createGzip();
  response.on('close', () => {
    zeros.destroy();
    gzip.destroy();
  });
  zeros.pipe(gzip).pipe(response);
};

const nested =
  (encoding: string, times: number): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-encoding': Array(times).fill(encoding).join(', ') }).end('x');
  };

const slowHeaders: Answer = (_request, response) => {
  response.socket?.write('HTTP/1.1 200 OK\r\nX-Slow: ');
  drip(response, () => response.socket?.write('a'));
};

const slowBody: Answer = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/plain' });
  drip(response, () => response.write('a'));
};

function drip(response: ServerResponse, send: () => void): void {
  const timer = setInterval(send, 200);
  response.socket?.on('close', () => clearInterval(timer));
}

const withControls: Answer = (_request, response) => {
  const head = 'HTTP/1.1 200 OK\x1b[2J\r\nX-Note: a\x1b[31mred\x1b[0m\r\n\tfolded\r\nContent-Type: text/plain\r\n';
  response.socket?.end(`${head}Content-Length: 9\r\nConnection: close\r\n\r\nbo\x1b[2Jdy\n`);
};

/** `caf\xe9` as the bytes it stands for. */
function bytesOf(text: string): Buffer {
  const plain = text.replace(/\\x([0-9a-f]{2})/gi, (_whole, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return Buffer.from(plain, 'latin1');
}
