import { setTimeout as sleep } from 'node:timers/promises';
import { type Failure, messageOf } from '../kernel/error.ts';
import type { AssistantMessage } from '../kernel/call/message.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { type Fields, fieldsOf } from './fields.ts';
import { GuardedLine, type LineOptions } from './guarded-request.ts';
import type { TurnOptions } from './model.ts';
import type { Sdk } from './sdk.ts';
import { type Trouble, trouble, troubleOfEvent } from './trouble.ts';

export interface EndpointOptions extends LineOptions {
  readonly sdk: () => Promise<Sdk>;
  readonly path: string;
  /** Never to be seen in a message, whatever the endpoint says. */
  readonly key?: string;
  /** How often it is tried in all. Default 4. */
  readonly tries?: number;
  /** The wait before the second try; it doubles, up to 30 s. Default 500. */
  readonly retryDelayMs?: number;
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

/** Asks an endpoint for one turn, as a stream. Nothing is executed on the way, so a turn that broke is asked for anew. */
export async function streamTurn(
  endpoint: EndpointOptions,
  body: object,
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
  return key ? { ...failure, message: hideKey(failure.message, key) } : failure;
}

/** What is quoted was cut somewhere, perhaps inside the key: a beginning of it is hidden as well. */
function hideKey(text: string, key: string): string {
  const [beginning, more] = [key.slice(0, SHORTEST_BEGINNING), key.slice(SHORTEST_BEGINNING)];
  const [before = '', ...after] = text.replaceAll(key, '[key]').split(beginning);
  return [before, ...after.map((rest) => rest.slice(sameLength(rest, more)))].join('[key]');
}

/** Fewer characters are what all keys of a provider begin with. */
const SHORTEST_BEGINNING = 8;

function sameLength(a: string, b: string): number {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length++;
  return length;
}

function backoff(delayMs: number, tried: number): number {
  const most = Math.min(LONGEST_BACKOFF_MS, delayMs * 2 ** (tried - 1));
  return most * (0.75 + Math.random() / 4);
}

async function once(
  endpoint: EndpointOptions,
  body: object,
  reader: TurnReader,
  signal: AbortSignal | undefined,
): Promise<WholeTurn | Trouble> {
  const { who, sdk, path } = endpoint;
  const line = new GuardedLine(endpoint);
  const stop = () => line.stop('it was told to stop');
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    const events = await (await sdk()).post(path, { body, stream: true, fetchOptions: { line } });
    for await (const event of events as AsyncIterable<unknown>) {
      if (typeof event !== 'object' || event === null) return notJson(who, JSON.stringify(event));
      const found = reader.push(event as Fields);
      if (found !== undefined) return found;
    }
    if (line.trouble !== undefined) return line.trouble;
    return reader.finish() ?? trouble('NETWORK_ERROR', `${who} broke off before its answer was whole`, { retry: true });
  } catch (error) {
    return line.trouble ?? troubleOfSdk(who, error);
  } finally {
    signal?.removeEventListener('abort', stop);
    line.close();
  }
}

/** The libraries throw where an event is no JSON, and where it is an error: that one they carry as it came. */
function troubleOfSdk(who: string, error: unknown): Trouble {
  // Its message quotes some characters from anywhere in the event, so perhaps from inside the key.
  if (error instanceof SyntaxError) return notJson(who);
  const { error: carried } = fieldsOf(error);
  if (carried !== undefined) return troubleOfEvent(who, fieldsOf(carried).error ?? carried);
  return trouble('NETWORK_ERROR', `${who} cannot be asked: ${messageOf(error)}`);
}

/** A stream like that is asked for again. */
function notJson(who: string, what?: string): Trouble {
  const quoted = what === undefined ? '' : ` («${what.slice(0, 60)}»)`;
  return trouble('NETWORK_ERROR', `${who} sent something that is not JSON${quoted}`, { retry: true });
}
