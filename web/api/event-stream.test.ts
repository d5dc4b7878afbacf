import { afterEach, beforeAll, expect, test } from 'vitest';
import { followEvents, type StreamState } from './event-stream.ts';

const SILENT_MS = 300;
const ends: (() => void)[] = [];

beforeAll(() => Object.assign(globalThis, { sessionStorage: { getItem: () => 'token' } }));
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A page whose server answers as the test says. Returns the connection states that the page was given. */
function pageOn(answer: (asked: number, signal: AbortSignal) => Response): StreamState[] {
  let asked = 0;
  const { fetch } = globalThis;
  globalThis.fetch = async (_, init) => answer(++asked, init?.signal as AbortSignal);
  const states: StreamState[] = [];
  const stop = followEvents({ onEvent: () => {}, onState: (state) => states.push(state) }, SILENT_MS);
  ends.push(stop, () => {
    globalThis.fetch = fetch;
  });
  return states;
}

/** A stream that stays open until the page aborts it. */
function stream(signal: AbortSignal, pingMs?: number): Response {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(out) {
      out.enqueue(bytes('retry: 1000\n\n'));
      const pinging = pingMs === undefined ? undefined : setInterval(() => out.enqueue(bytes(': ping\n\n')), pingMs);
      signal.addEventListener('abort', () => {
        clearInterval(pinging);
        out.error(signal.reason);
      });
    },
  });
  return new Response(body);
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

test.each([
  [401, 'refused'],
  [403, 'limited'],
] as const)('after %i the connection is %s, and the page does not retry', async (status, state) => {
  const states = pageOn(() => new Response(null, { status }));
  await pause(400);
  expect(states).toEqual(['connecting', state]);
});

test('too many streams for one token are reported, and the page retries', async () => {
  const states = pageOn((asked, signal) => (asked === 1 ? new Response(null, { status: 429 }) : stream(signal, 20)));
  await expect.poll(() => states, { timeout: 5000 }).toEqual(['connecting', 'crowded', 'connecting', 'open']);
});

test('a silent connection counts as lost and is opened again; one with pings stays', async () => {
  const states = pageOn((asked, signal) => (asked === 1 ? stream(signal) : stream(signal, 20)));
  const anew = ['connecting', 'open', 'lost', 'connecting', 'open'];
  await expect.poll(() => states, { timeout: 5000 }).toEqual(anew);
  await pause(2 * SILENT_MS);
  expect(states).toEqual(anew);
});
