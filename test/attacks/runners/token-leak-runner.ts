import { readdirSync, readFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { closeBrowser, TestApp } from '../../app/browser.ts';
import type { Observation } from '../attack.ts';
import type { Runner } from '../harness.ts';

/**
 * The server with its page in a real browser: a command looks around, a link leads elsewhere, a request is refused.
 * Afterwards the token is looked for wherever it could have got to.
 */
export const tokenLeakRunner: Runner = {
  kind: 'execute',
  async run() {
    const places = new Map<string, string>();
    const add = (place: string, text: string) => places.set(place, (places.get(place) ?? '') + text);
    const sink = new Writable({
      write(chunk, _encoding, done) {
        add('the log', String(chunk));
        done();
      },
    });
    const app = await TestApp.start({ logger: pino({ level: 'trace' }, sink) });
    try {
      await lookAround(app, add);
      const leak = [...places].find(([, text]) => text.includes(app.server.tokens.own));
      const unseen = WATCHED.filter((place) => !places.get(place));
      if (unseen.length > 0) throw new Error(`nothing was seen of ${unseen.join(', ')}`);
      return { outcomes: ['allow'], text: '', durationMs: 0, detail: leak?.[0] ?? null } satisfies Observation;
    } finally {
      await app[Symbol.asyncDispose]();
      await closeBrowser();
    }
  },
  texts: { 'srv.token-leak': (_fixture, { detail }) => (detail === null ? null : `the token is in ${detail}`) },
};

const LINKED = 'https://linked.example/page';

const WATCHED = [
  'the log',
  'what a linked page is told',
  'the address of the page',
  'the list of processes',
  'the events',
  'what a command sees',
  'what a model is told',
  'an answer that refuses',
];

async function lookAround(app: TestApp, add: (place: string, text: string) => void) {
  const { server } = app;
  const { body: session } = await server.post('/v1/sessions', {});
  const stop = new AbortController();
  const listening = (async () => {
    const { body } = await server.fetch('/v1/events?after=0', { signal: stop.signal });
    for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()))
      add('the events', chunk);
  })().catch(() => {});
  const text = `[elsewhere](${LINKED})`;
  const data = { messageId: 'm1', role: 'assistant', text } as const;
  await server.host.ledger.note(session.id, { type: 'message.added', callId: null, at: Date.now(), data });
  const page = await app.open(`/chat/${session.id}`);
  const link = page.getByRole('link', { name: 'elsewhere' });
  await link.waitFor();
  add('the address of the page', page.url());
  const followed = new Promise<void>((resolve) => {
    void page.context().route(`${LINKED}*`, async (route) => {
      add('what a linked page is told', JSON.stringify([route.request().url(), await route.request().allHeaders()]));
      await route.fulfill({ body: 'elsewhere' });
      resolve();
    });
  });
  await link.click();
  await followed;
  const environments = 'for each in /proc/[0-9]*; do cat "$each/environ"; done 2>/dev/null';
  const command = `touch here; env; cat /proc/*/cmdline 2>/dev/null; ${environments}; ls -la ~ 2>/dev/null; true`;
  await server.post('/v1/rules', { rule: 'bash', verdict: 'ask' });
  const { call, approval } = await server.ask({ command }, 'bash');
  await server.post(`/v1/approvals/${approval.id}/approve`, { digest: approval.digest });
  add('what a command sees', JSON.stringify(await server.ended(call.id)));
  const refused = await server.fetch('/v1/nowhere', { method: 'POST', body: '{' });
  add('an answer that refuses', `${await refused.text()}${JSON.stringify([...refused.headers])}`);
  await server.post('/v1/calls', { tool: 'read_file', args: { path: 'nothing.txt' }, session: session.id });
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) add('the list of processes', argv(pid));
  const { body: events } = await server.get(`/v1/sessions/${session.id}/events?limit=1000`);
  add('what a model is told', JSON.stringify(events));
  await delay(300);
  stop.abort();
  await listening;
}

function argv(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
