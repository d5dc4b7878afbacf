import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { historyProblems } from './legal-history.ts';

/** One answer of a model endpoint, byte for byte. */
export interface RawReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Written one by one, so that an event can be cut anywhere. */
  readonly chunks?: readonly (string | Uint8Array)[];
  /** How the answer ends after the last chunk. Default: properly. */
  readonly after?: 'cut' | 'hang';
}

export interface RawRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: what a test looks at in a foreign format
  readonly body: any;
}

export interface ModelServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: RawRequest[];
}

/**
 * A model endpoint on loopback with prepared replies, which answers 400 to a history that no provider would accept.
 * Requests beyond the last reply get a 500.
 */
export async function modelServer(
  replies: readonly RawReply[] | ((request: RawRequest, index: number) => RawReply | Promise<RawReply>),
): Promise<ModelServer> {
  const requests: RawRequest[] = [];
  const server = createServer(async (incoming, response) => {
    let text = '';
    for await (const chunk of incoming.setEncoding('utf8')) text += chunk;
    const request = { path: incoming.url ?? '', headers: incoming.headers, body: JSON.parse(text) };
    const index = requests.push(request) - 1;
    const problems = historyProblems(request.path, request.body);
    if (problems.length > 0) {
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { type: 'invalid_request_error', message: problems.join('; ') } }));
      return;
    }
    await write(
      response,
      typeof replies === 'function' ? await replies(request, index) : (replies[index] ?? { status: 500 }),
    );
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function write(response: ServerResponse, reply: RawReply): Promise<void> {
  const { status = 200, headers = { 'content-type': 'text/event-stream' }, chunks = [], after } = reply;
  response.writeHead(status, headers);
  response.flushHeaders();
  for (const chunk of chunks) {
    response.write(chunk);
    if (chunks.length < 50) await new Promise(setImmediate);
  }
  if (after === 'cut') response.socket?.destroy();
  else if (after === undefined) response.end();
}
