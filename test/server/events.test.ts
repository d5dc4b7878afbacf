import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { streamEvent } from '../../src/protocol/events.ts';
import { type Json, TestServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await TestServer.start({ mostStreamsPerToken: 40 });
});
afterEach(() => server[Symbol.asyncDispose]());

interface Heard {
  readonly id: number | null;
  readonly type: string;
  readonly data: Json;
}

/** Reads a stream as a page would, with fetch. */
function listen(path: string, headers: Record<string, string> = {}) {
  const heard: Heard[] = [];
  const stop = new AbortController();
  const state = { ended: false };
  const reading = (async () => {
    const response = await server.fetch(path, { headers, signal: stop.signal });
    if (response.status !== 200 || response.body === null) throw new Error(`status ${response.status}`);
    let text = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
    state.ended = true;
  })().catch(() => {
    state.ended = true;
  });
  function take(block: string): void {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
    const type = field('event');
    if (type === undefined) return;
    const id = field('id');
    heard.push({ type, id: id === undefined ? null : Number(id), data: JSON.parse(field('data') ?? 'null') });
  }
  return {
    heard,
    state,
    ids: () => heard.map(({ id }) => id).filter((id) => id !== null),
    async until(count: number) {
      for (let tries = 0; tries < 1000 && heard.length < count; tries++) await delay(10);
    },
    async stop() {
      stop.abort();
      await reading;
    },
  };
}

const read = (session?: string) =>
  server.post('/v1/calls', { tool: 'read_file', args: { path: 'a.txt' }, ...(session && { session }) });

describe('the stream of events', () => {
  test('tells what happens, and a reader who comes back misses nothing and gets nothing twice', async () => {
    await server.post('/v1/sessions', { id: 's1' });
    const first = listen('/v1/events?session=s1&after=0');
    await read('s1');
    await first.until(4);
    await first.stop();
    expect(first.heard.map(({ type }) => type)).toEqual([
      'session.created',
      'call.requested',
      'call.started',
      'call.finished',
    ]);
    for (const { data } of first.heard) streamEvent.parse(data);
    await Promise.all(Array.from({ length: 30 }, () => read('s1')));
    const second = listen('/v1/events?session=s1', { 'Last-Event-ID': '4' });
    await Promise.all(Array.from({ length: 30 }, () => read('s1')));
    await second.until(180);
    await delay(50);
    expect(second.ids()).toEqual(Array.from({ length: 180 }, (_, index) => index + 5));
    await second.stop();
  });

  test('refuses a Last-Event-ID that is none, instead of leaving out what came before', async () => {
    const refused = await server.fetch('/v1/events', { headers: { 'Last-Event-ID': 'four' } });
    expect([refused.status, await refused.json()]).toMatchObject([400, { code: 'INVALID_INPUT' }]);
  });

  test('of all sessions is in the order of positions', async () => {
    const all = listen('/v1/events?after=0');
    await Promise.all(['s1', 's2', 's3'].map((id) => server.post('/v1/sessions', { id })));
    await Promise.all(['s1', 's2', 's3', 's1'].map(read));
    await all.until(15);
    expect(all.ids()).toEqual(Array.from({ length: 15 }, (_, index) => index + 1));
    expect(all.heard.every(({ id, data }) => data.pos === id)).toBe(true);
    await all.stop();
  });

  test('without a position begins with what comes next', async () => {
    await read();
    const fresh = listen('/v1/events');
    await delay(200);
    await read();
    await fresh.until(3);
    expect(fresh.heard.map(({ type }) => type)).toEqual(['call.requested', 'call.started', 'call.finished']);
    await fresh.stop();
  });

  test('hears what another process did', async () => {
    const stream = listen('/v1/events');
    await delay(100);
    const { openStore } = await import('../../src/storage/open.ts');
    const opened = await openStore({ directory: server.host.stateDir });
    if (!opened.ok) throw new Error(opened.error.message);
    const data = { tool: 'grep', enabled: false, by: 'somebody else' };
    await opened.value.store.record({ type: 'tool.switched', at: Date.now(), data });
    await stream.until(1);
    expect(stream.heard[0]).toMatchObject({ type: 'tool.switched', data: { data } });
    await opened.value.store.close();
    await stream.stop();
  });

  test('tells which files changed, whoever changed them', async () => {
    const stream = listen('/v1/events');
    const seen = () =>
      stream.heard.filter(({ type }) => type === 'file.changed').flatMap(({ data }) => data.data.changes);
    for (let tries = 0; tries < 100 && seen().length === 0; tries++) {
      writeFileSync(join(server.workspace, 'from-outside.txt'), `${tries}`);
      await delay(100);
    }
    expect(seen()[0]).toMatchObject({ path: 'from-outside.txt' });
    for (const { data } of stream.heard) streamEvent.parse(data);
    expect(stream.heard.every(({ id }) => id === null)).toBe(true);
    await stream.stop();
  });

  test('tells its readers when the server stops', async () => {
    const stream = listen('/v1/events');
    await delay(100);
    await server.stop();
    await stream.until(1);
    expect(stream.heard.at(-1)?.type).toBe('server.stopping');
    await server.start();
  });

  test('is capped for each token, and ends when its token is replaced', async () => {
    const streams = Array.from({ length: 40 }, () => listen('/v1/events'));
    await delay(300);
    expect((await server.fetch('/v1/events')).status).toBe(429);
    const old = server.tokens.own;
    expect((await server.post('/v1/token/rotate')).body.token).not.toBe(old);
    for (let tries = 0; tries < 500 && !streams.every(({ state }) => state.ended); tries++) await delay(10);
    expect(streams.every(({ state }) => state.ended)).toBe(true);
    expect((await server.get('/v1/health', old)).status).toBe(401);
    expect((await server.get('/v1/health')).status).toBe(200);
  });

  test('is not counted when its reader had gone before it was opened', async () => {
    const { ledger } = server.host;
    const session = ledger.session.bind(ledger);
    let [asked, open] = [0, () => {}];
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    ledger.session = async (id) => {
      asked++;
      await opened;
      return session(id);
    };
    const gone = new AbortController();
    const readers = Array.from({ length: 40 }, () =>
      server.fetch('/v1/events?session=s1', { signal: gone.signal }).catch(() => {}),
    );
    await expect.poll(() => asked, { timeout: 10_000 }).toBe(40);
    gone.abort();
    await Promise.all(readers);
    await delay(500);
    open();
    await delay(100);
    ledger.session = session;
    const next = await server.fetch('/v1/events?session=s1');
    expect(next.status).toBe(200);
    await next.body?.cancel();
  });

  test.each(['/v1/events?session=s1&after=', '/v1/events?after='])('%s tells of what was pruned', async (path) => {
    await server.post('/v1/sessions', { id: 's1' });
    await read('s1');
    const before = listen(path.replace('after=', ''));
    await delay(100);
    const { ledger } = server.host;
    await ledger.note('s1', note('old'));
    await before.until(1);
    const last = before.ids().at(-1) ?? 0;
    await delay(10);
    await ledger.prune({ before: Date.now() });
    expect(await ledger.log(0, 10)).toEqual([]);
    const [none, some] = [listen(`${path}0`), listen(`${path}${last - 1}`)];
    for (const { until } of [none, some]) await until(1);
    await ledger.note('s1', note('new'));
    for (const { until } of [none, some, before]) await until(2);
    const reset = { id: null, type: 'stream.reset' };
    const next = { id: last + 1, type: 'message.added' };
    expect(none.heard).toMatchObject([{ ...reset, data: { data: { after: 0 } } }, next]);
    expect(some.heard).toMatchObject([{ ...reset, data: { data: { after: last - 1 } } }, next]);
    for (const { data } of none.heard) streamEvent.parse(data);
    for (const { stop } of [none, some, before]) await stop();
  });

  test('a reader that has all of a session is told of no loss when that is pruned', async () => {
    await server.post('/v1/sessions', { id: 's1' });
    await server.host.ledger.prune({ before: Date.now() + 1000 });
    const stream = listen('/v1/events?session=s1&after=1');
    await delay(100);
    await server.host.ledger.note('s1', note('new'));
    await stream.until(1);
    expect(stream.heard).toMatchObject([{ id: 2, type: 'message.added' }]);
    await stream.stop();
  });

  test('a reader that stops reading is not buffered for, others hear everything, and it can catch up', async () => {
    const stalled = Array.from({ length: 20 }, () => stall());
    const reader = listen('/v1/events?session=api-owner&after=0');
    const big = 'x'.repeat(20_000);
    for (let round = 0; round < 150; round++) {
      await server.host.ledger.note('api-owner', note(`m${round}`, big));
    }
    await reader.until(150);
    expect(reader.ids()).toEqual(Array.from({ length: 150 }, (_, index) => index + 1));
    await Promise.all(stalled.map((each) => each.resume(150)));
    await reader.stop();
  });
});

function note(messageId: string, text = '') {
  return { type: 'message.added', callId: null, at: Date.now(), data: { messageId, role: 'notice', text } } as const;
}

/** A connection that asks for events and reads nothing until it is told to. */
function stall() {
  const socket = connect(server.running.port, '127.0.0.1');
  socket.pause();
  socket.write(
    `GET /v1/events?session=api-owner&after=0 HTTP/1.1\r\nHost: 127.0.0.1:${server.running.port}\r\nAuthorization: Bearer ${server.tokens.own}\r\n\r\n`,
  );
  return {
    async resume(count: number) {
      let text = '';
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        text = (text + chunk).replace(/x{50,}/g, '');
      });
      socket.resume();
      const ids = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
      for (let tries = 0; tries < 1000 && ids().length < count; tries++) await delay(10);
      expect(ids()).toEqual(Array.from({ length: count }, (_, index) => index + 1));
      socket.destroy();
    },
  };
}
