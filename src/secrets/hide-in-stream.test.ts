import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Event, LiveEvent, StoredEvent } from '../kernel/call/event.ts';
import { ok } from '../kernel/result.ts';
import { defineTool } from '../kernel/tool/tool.ts';
import { createToolwright } from '../runtime/create-toolwright.ts';
import { hideInModelStream, StreamHider } from './hide-in-stream.ts';
import { createHider } from './hide-secrets.ts';

const VALUE = 'correct horse battery';
const TOKEN = `sk-test-${'A1'.repeat(12)}`;
const KEY = `-----BEGIN RSA PRIVATE KEY-----\n${'AbC9'.repeat(100)}\n-----END RSA PRIVATE KEY-----`;
const JWT = `eyJ${'ab1'.repeat(9)}.${'cd2'.repeat(9)}.${'ef3'.repeat(9)}`;

function told(pieces: readonly string[], known: readonly string[] = [VALUE]): string[] {
  const stream = new StreamHider(createHider(known));
  return [...pieces.map((piece) => stream.add(piece)), stream.flush()];
}

const TELEGRAM = `123456789:AA${'x1'.repeat(16)}b`;
const ADDRESS = `postgres://ana:${'Pw1'.repeat(4)}@`;

describe.each([
  VALUE,
  TOKEN,
  KEY,
  JWT,
  `ghp_${'a1B2'.repeat(9)}`,
  `SG.${'a1B2'.repeat(5)}.${'a1B2'.repeat(5)}`,
  TELEGRAM,
  ADDRESS,
])('%s', (secret) => {
  test('is hidden wherever it is cut in two, and letter by letter', () => {
    const text = `before ${secret} after`;
    for (let at = 0; at <= text.length; at++)
      expect(told([text.slice(0, at), text.slice(at)]).join('')).toBe('before [redacted] after');
    expect(told([...text]).join('')).toBe('before [redacted] after');
  });
});

test('a private key of 40 KB is hidden piece by piece, and a mention of its marks is not', () => {
  const key = `-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n${`${'AbC9'.repeat(16)}\n`.repeat(620)}-----END PGP PRIVATE KEY BLOCK-----`;
  const pieces = `before ${key} after`.match(/[\s\S]{1,500}/g) ?? [];
  expect(told(pieces).join('')).toBe('before [redacted] after');
  const mention = 'between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- stands the key';
  expect(told([...mention]).join('')).toBe(mention);
});

test('what cannot be the beginning of a secret is told at once', () => {
  expect(told(['Downloading files...', ' done: 50%', 'q'])).toEqual(['Downloading files...', ' done: 50%', 'q', '']);
  expect(told(['it is cor', 'rupt', ' cor'])).toEqual(['it is ', 'corrupt', ' ', 'cor']);
  expect(told([`all of ${VALUE}`, '!'])).toEqual(['all of [redacted]', '!', '']);
});

test('of values that begin alike, or one inside the other, the whole is hidden', () => {
  const known = ['abcd1234', 'abcd1234efgh', '4567wxyz'];
  expect(told(['x abcd1234', 'efgh y'], known).join('')).toBe('x [redacted] y');
  expect(told(['x abcd1234', '5 y'], known).join('')).toBe('x [redacted]5 y');
});

test('a word without an end is not held back for ever', () => {
  const [first, ...rest] = told([`sk-1${'a'.repeat(20_000)}`, ' b']);
  expect([first, ...rest].join('')).toBe('[redacted] b');
  expect(first).toBe('[redacted]');
});

test('a call that tells a known value in two pieces tells it to nobody, and the end is not lost', async () => {
  const tool = defineTool({
    name: 'print',
    description: 'Prints.',
    input: z.object({ pieces: z.array(z.string()) }),
    access: () => [],
    run: ({ pieces }, ctx) => {
      for (const output of pieces) ctx.progress({ output });
      return ok('printed');
    },
  });
  const { call, executor } = createToolwright({ tools: [tool], secrets: [VALUE] });
  const events: Event[] = [];
  executor.on((event) => events.push(event));
  await call('print', { pieces: ['It is correct ho', 'rse battery, cor'] });
  const output = events.flatMap((event) => (event.type === 'call.progressed' ? [event.data.output] : []));
  expect(output).toEqual(['It is ', '[redacted], ', 'cor']);
  expect(events.at(-1)?.type).toBe('call.finished');
});

type Kind = LiveEvent<'message.streamed'>['data']['kind'];

test('what is held back of one kind of words is told before anything else is', () => {
  const told: string[] = [];
  const hear = hideInModelStream(createHider(['correct horse battery']), ({ data }) =>
    told.push(`${data.kind}: ${data.text}`),
  );
  const say = (kind: Kind, text: string) =>
    hear({ type: 'message.streamed', session: 's1', callId: null, at: 1, data: { kind, text } });
  say('thinking', 'cor');
  say('text', 'It is correct ');
  say('text', 'horse battery, cor');
  say('call', 'npm_');
  say('call', 'npm_');
  say('text', 'corr');
  const message = { type: 'message.added', data: { messageId: 'm', role: 'assistant', text: 'corr' } };
  hear({ ...message, callId: null, at: 2, session: 's1', seq: 1, pos: 1 } as StoredEvent);
  expect(told).toEqual([
    'thinking: cor',
    'text: It is ',
    'text: [redacted], ',
    'text: cor',
    'call: npm_',
    'call: npm_',
    'text: corr',
  ]);
});
