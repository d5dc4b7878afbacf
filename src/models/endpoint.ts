import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Failure, messageOf } from '../kernel/error.ts';
import type { AssistantMessage } from '../kernel/message.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Fields } from './fields.ts';
import type { TurnOptions } from './model.ts';
import { EventParser, type ServerEvent } from './sse.ts';
import { type Trouble, trouble, troubleOfStatus } from './trouble.ts';

export interface EndpointOptions {
  /** As a sentence begins: «The Anthropic API». */
  readonly who: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Never to be seen in a message, whatever the endpoint says. */
  readonly key?: string;
  /** How often it is tried in all. Default 4. */
  readonly tries?: number;
  /** The wait before the second try; it doubles, up to 30 s. Default 500. */
  readonly retryDelayMs?: number;
  /** Silence after which a stream counts as dead. Default 120 s. */
  readonly stallMs?: number;
}

/** Reads one wire format. */
export interface TurnReader {
  push(event: Fields): Trouble | undefined;
  /** Undefined when the stream ended before the turn was whole. */
  finish(): WholeTurn | undefined;
}

export type WholeTurn = Pick<AssistantMessage, 'parts' | 'stop' | 'usage'>;

const LONGEST_WAIT_MS = 60_000;
const LONGEST_BACKOFF_MS = 30_000;
const MOST_ERROR_BYTES = 16 * 1024;

/** Asks an endpoint for one turn, as a stream. Nothing is executed on the way, so a turn that broke is asked for anew. */
export async function streamTurn(
  endpoint: EndpointOptions,
  body: string,
  createReader: () => TurnReader,
  { signal, onHeard }: TurnOptions,
): Promise<Result<WholeTurn>> {
  const { who, tries = 4, retryDelayMs = 500 } = endpoint;
  for (let tried = 1; ; tried++) {
    const answer = await once(endpoint, body, createReader(), signal);
    if ('parts' in answer) return ok(answer);
    if (signal?.aborted) return fail('CANCELLED', 'The model was told to stop.');
    const { retry, afterMs } = answer;
    const failure = withoutKey(answer.failure, endpoint.key);
    const waitMs = afterMs ?? backoff(retryDelayMs, tried);
    if (!retry) return { ok: false, error: failure };
    if (tried >= tries) return fail(failure.code, `${failure.message}. It was tried ${tried} times; try again later.`);
    if (waitMs > LONGEST_WAIT_MS) {
      return fail(failure.code, `${failure.message}. ${who} wants a wait of ${Math.ceil(waitMs / 1000)} s.`);
    }
    const next = `Trying again in ${(waitMs / 1000).toFixed(1)} s (${tried + 1} of ${tries}).`;
    onHeard?.({ kind: 'restarted', text: `${failure.message}. ${next}` });
    await sleep(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    if (signal?.aborted) return fail('CANCELLED', 'The model was told to stop.');
  }
}

function withoutKey(failure: Failure, key: string | undefined): Failure {
  return key ? { ...failure, message: failure.message.replaceAll(key, '[key]') } : failure;
}

function backoff(delayMs: number, tried: number): number {
  const most = Math.min(LONGEST_BACKOFF_MS, delayMs * 2 ** (tried - 1));
  return most * (0.75 + Math.random() / 4);
}

async function once(
  endpoint: EndpointOptions,
  body: string,
  reader: TurnReader,
  signal: AbortSignal | undefined,
): Promise<WholeTurn | Trouble> {
  const { who, stallMs = 120_000 } = endpoint;
  const call = post(endpoint, body);
  let ended: string | undefined;
  const end = (why: string) => {
    ended = why;
    call.destroy(new Error(why));
  };
  const stop = () => end('it was told to stop');
  const timer = setTimeout(() => end(`nothing came for ${stallMs / 1000} s`), stallMs);
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    const answer = await answerTo(call);
    const status = answer.statusCode ?? 0;
    if (status < 200 || status > 299)
      return troubleOfStatus(who, { status, headers: answer.headers }, await beginning(answer));
    const type = answer.headers['content-type'] ?? 'nothing';
    if (!type.includes('event-stream')) return noStream(who, type, await beginning(answer));
    const parser = new EventParser();
    for await (const chunk of answer as AsyncIterable<Uint8Array>) {
      timer.refresh();
      for (const event of parser.push(chunk)) {
        if (event.data === '[DONE]') continue;
        const read = readData(who, event);
        const found = 'value' in read ? reader.push(read.value) : read;
        if (found !== undefined) return found;
      }
    }
    return reader.finish() ?? trouble('NETWORK_ERROR', `${who} broke off before its answer was whole`, { retry: true });
  } catch (error) {
    const why = ended ?? messageOf(error);
    return trouble('NETWORK_ERROR', `${who} cannot be reached or broke off: ${why}`, { retry: true });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    // After a whole answer the connection is kept for the next turn; whatever else is left of it is nobody's any more.
    if (!call.res?.complete) call.destroy();
  }
}

/** Node's own client: a redirect is an answer like any other, so the key goes nowhere it was not sent. */
function post({ url, headers }: EndpointOptions, body: string): ClientRequest & { res?: IncomingMessage } {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  const length = Buffer.byteLength(body);
  const call = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'content-length': length, ...headers },
  });
  call.end(body);
  return call;
}

function answerTo(call: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    call.once('response', resolve);
    call.on('error', reject);
  });
}

function noStream(who: string, type: string, said: string): Trouble {
  const began = said.replace(/\s+/g, ' ').slice(0, 100);
  return trouble('NOT_CONFIGURED', `${who} answered ${type} instead of a stream («${began}»). Check modelBaseUrl.`);
}

async function beginning(answer: IncomingMessage): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size > MOST_ERROR_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MOST_ERROR_BYTES).toString('utf8');
}

/** Trouble when it is no JSON: a stream like that is asked for again. */
function readData(who: string, { data }: ServerEvent): { value: Fields } | Trouble {
  try {
    const value: unknown = JSON.parse(data);
    if (typeof value === 'object' && value !== null) return { value: value as Fields };
  } catch {
    // Said below.
  }
  return trouble('NETWORK_ERROR', `${who} sent something that is not JSON («${data.slice(0, 60)}»)`, { retry: true });
}
