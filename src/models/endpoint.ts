import { setTimeout as sleep } from 'node:timers/promises';
import type { AssistantMessage } from '../kernel/call/message.ts';
import { type Failure, knownCode, messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { fieldsOf, type JsonFields } from './fields.ts';
import { GuardedRequest, type GuardedRequestOptions } from './guarded-request.ts';
import type { TurnOptions } from './model.ts';
import type { Sdk } from './sdk.ts';
import { failureOfEvent, type TurnFailure, turnFailure } from './turn-failure.ts';

export interface EndpointOptions extends GuardedRequestOptions {
  readonly sdk: () => Promise<Sdk>;
  readonly path: string;
  /** Never shown in a message, whatever the endpoint says. */
  readonly key?: string;
  /** Number of attempts. Default 4. */
  readonly tries?: number;
  /** Wait before the second attempt; it doubles, up to 30 s. Default 500. */
  readonly retryDelayMs?: number;
}

/** Reads one wire format. */
export interface TurnReader {
  push(event: JsonFields): TurnFailure | undefined;
  /** Returns undefined when the stream ended before the turn was complete. */
  finish(): WholeTurn | undefined;
}

export type WholeTurn = Pick<AssistantMessage, 'parts' | 'stop' | 'usage'>;

const MAX_WAIT_MS = 60_000;
const MAX_BACKOFF_MS = 30_000;

/** Asks an endpoint for one turn, as a stream. Nothing is executed meanwhile, so a broken turn is requested again. */
export async function streamTurn(
  endpoint: EndpointOptions,
  body: object,
  createReader: () => TurnReader,
  { signal, onDelta }: TurnOptions,
): Promise<Result<WholeTurn>> {
  const { who, tries = 4, retryDelayMs = 500 } = endpoint;
  for (let tried = 1; ; tried++) {
    const answer = await once(endpoint, body, createReader(), signal);
    if ('parts' in answer) return ok(answer);
    if (signal?.aborted) return fail('CANCELLED', 'The model was cancelled.');
    const { retry, afterMs } = answer;
    const failure = withoutKey(answer.failure, endpoint.key);
    const waitMs = afterMs ?? backoff(retryDelayMs, tried);
    if (!retry) return { ok: false, error: failure };
    if (tried >= tries)
      return fail(knownCode(failure.code), `${failure.message}. It failed ${tried} times; try again later.`);
    if (waitMs > MAX_WAIT_MS) {
      return fail(knownCode(failure.code), `${failure.message}. ${who} asks to wait ${Math.ceil(waitMs / 1000)} s.`);
    }
    const next = `Trying again in ${(waitMs / 1000).toFixed(1)} s (${tried + 1} of ${tries}).`;
    onDelta?.({ kind: 'restarted', text: `${failure.message}. ${next}` });
    await sleep(waitMs, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    if (signal?.aborted) return fail('CANCELLED', 'The model was cancelled.');
  }
}

function withoutKey(failure: Failure, key: string | undefined): Failure {
  return key ? { ...failure, message: hideKey(failure.message, key) } : failure;
}

/** Hides the key and any beginning of it: a quoted text may have been cut inside the key. */
function hideKey(text: string, key: string): string {
  const [beginning, more] = [key.slice(0, MIN_KEY_PREFIX), key.slice(MIN_KEY_PREFIX)];
  const [before = '', ...after] = text.replaceAll(key, '[key]').split(beginning);
  return [before, ...after.map((rest) => rest.slice(sameLength(rest, more)))].join('[key]');
}

/** A shorter prefix is shared by all keys of a provider. */
const MIN_KEY_PREFIX = 8;

function sameLength(a: string, b: string): number {
  let length = 0;
  while (length < Math.min(a.length, b.length) && a[length] === b[length]) length++;
  return length;
}

function backoff(delayMs: number, tried: number): number {
  const most = Math.min(MAX_BACKOFF_MS, delayMs * 2 ** (tried - 1));
  return most * (0.75 + Math.random() / 4);
}

async function once(
  endpoint: EndpointOptions,
  body: object,
  reader: TurnReader,
  signal: AbortSignal | undefined,
): Promise<WholeTurn | TurnFailure> {
  const { who, sdk, path } = endpoint;
  const line = new GuardedRequest(endpoint);
  const stop = () => line.stop('it was cancelled');
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  try {
    const events = await (await sdk()).post(path, { body, stream: true, fetchOptions: { line } });
    for await (const event of events as AsyncIterable<unknown>) {
      if (typeof event !== 'object' || event === null) return notJson(who, JSON.stringify(event));
      const found = reader.push(event as JsonFields);
      if (found !== undefined) return found;
    }
    if (line.failure !== undefined) return line.failure;
    return (
      reader.finish() ??
      turnFailure('NETWORK_ERROR', `${who} broke off before its answer was complete`, { retry: true })
    );
  } catch (error) {
    return line.failure ?? failureOfSdk(who, error);
  } finally {
    signal?.removeEventListener('abort', stop);
    line.close();
  }
}

/**
 * Classifies an error thrown by a library: for an event that is not JSON, or for an error event, which it passes on.
 */
function failureOfSdk(who: string, error: unknown): TurnFailure {
  // Its message quotes characters from anywhere in the event, possibly from inside the key.
  if (error instanceof SyntaxError) return notJson(who);
  const { error: carried } = fieldsOf(error);
  if (carried !== undefined) return failureOfEvent(who, fieldsOf(carried).error ?? carried);
  return turnFailure('NETWORK_ERROR', `${who} cannot be asked: ${messageOf(error)}`);
}

/** A malformed stream is requested again. */
function notJson(who: string, what?: string): TurnFailure {
  const quoted = what === undefined ? '' : ` ("${what.slice(0, 60)}")`;
  return turnFailure('NETWORK_ERROR', `${who} sent something that is not JSON${quoted}`, { retry: true });
}
