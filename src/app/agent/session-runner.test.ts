import { cpSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { type CliFixture, createCliFixture } from '../../testing/cli-fixture.ts';
import { modelServer } from '../../testing/model-server.ts';
import { anthropicEvents, anthropicReply } from '../../testing/wire-turn.ts';
import { type Host, openHost } from '../open-host.ts';
import { createSessionRunner } from './session-runner.ts';

async function withHost(place: CliFixture, more: object, work: (host: Host) => Promise<void>): Promise<void> {
  const env = { ...place.env, ...more };
  const runner = (parts: Parameters<NonNullable<Parameters<typeof openHost>[0]['runner']>>[0]) =>
    createSessionRunner(parts, env);
  const host = await openHost({ workspaces: [place.workspace], env, headless: true, runner });
  if (!host.ok) throw new Error(host.error.message);
  try {
    await work(host.value);
  } finally {
    await host.value.close();
  }
}

async function open({ ledger, workspaces }: Host, session: string): Promise<void> {
  const data = { workspace: [...workspaces.keys()][0] ?? '', title: null, agent: null, by: null };
  await ledger.note(session, { type: 'session.created', callId: null, at: Date.now(), data });
}

async function over({ runner }: Host, session: string): Promise<void> {
  for (let tries = 0; runner.running(session) && tries < 600; tries++) await delay(50);
}

const toModel = (url: string) => ({
  TOOLWRIGHT_PROVIDER: 'anthropic',
  TOOLWRIGHT_MODEL_BASE_URL: url,
  TOOLWRIGHT_MODE: 'auto',
});

test('a message is answered in its session, streamed and recorded, and a run left behind is taken up at the start', async () => {
  using place = createCliFixture(process.env.PATH, { 'a.txt': 'alpha' });
  const turns = [
    { calls: [{ name: 'read_file', args: { path: 'a.txt' } }] },
    { text: 'It says alpha.' },
    { text: 'Again.' },
  ];
  await using model = await modelServer((_, index) => anthropicReply(turns[index] ?? { text: 'Hm.' }, index));
  await withHost(place, toModel(model.url), async (host) => {
    const heard: string[] = [];
    host.onLive(({ type }) => heard.push(type));
    await open(host, 's1');
    expect(host.runner.models().current).toEqual({ provider: 'anthropic', model: 'claude-sonnet-5-5' });
    expect(await host.runner.send('s1', 'What does a.txt say?', 'ana')).toMatchObject({ ok: true });
    expect(await host.runner.send('s1', 'And?', 'ana')).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
    await over(host, 's1');
    const said = (await host.ledger.events('s1')).flatMap((event) =>
      event.type === 'message.added' ? [[event.data.role, event.data.text, event.data.by ?? null]] : [],
    );
    expect(said).toEqual([
      ['user', 'What does a.txt say?', 'ana'],
      ['assistant', '', null],
      ['assistant', 'It says alpha.', null],
    ]);
    expect(heard).toContain('message.streamed');
    const message = { messageId: 'm', role: 'user' as const, text: 'Go on' };
    await host.ledger.note('s1', {
      type: 'run.started',
      callId: null,
      at: Date.now(),
      data: { model: 'm', scripted: false },
    });
    await host.ledger.note('s1', { type: 'message.added', callId: null, at: Date.now(), data: message });
  });
  await withHost(place, toModel(model.url), async (host) => {
    for (let tries = 0; model.requests.length < 3 && tries < 200; tries++) await delay(50);
    await over(host, 's1');
    expect((await host.ledger.events('s1')).at(-1)).toMatchObject({ type: 'run.finished', data: { reason: 'done' } });
  });
});

test('a secret that a model says is hidden while it is said, also in two pieces', async () => {
  using place = createCliFixture(process.env.PATH);
  const [one, two] = ['plain-words-', 'as-a-secret'];
  const block = { type: 'content_block_delta', index: 0 };
  const events = anthropicEvents(
    { type: 'message_start', message: { usage: { input_tokens: 1, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { ...block, delta: { type: 'text_delta', text: `It is ${one}` } },
    { ...block, delta: { type: 'text_delta', text: `${two} and ${one}${two}, plain` } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  );
  await using model = await modelServer(() => ({ chunks: events }));
  await withHost(place, { ...toModel(model.url), SERVICE_TOKEN: `${one}${two}` }, async (host) => {
    const heard: string[] = [];
    host.onLive((event) => heard.push(event.type === 'message.streamed' ? event.data.text : ''));
    await open(host, 's1');
    expect(await host.runner.send('s1', 'Say it.', 'ana')).toMatchObject({ ok: true });
    await over(host, 's1');
    expect(heard.join('')).toBe('It is [redacted] and [redacted], plain');
  });
});

test('a key that is saved while the server runs is in no record from then on', async () => {
  using place = createCliFixture(process.env.PATH);
  await withHost(place, { TOOLWRIGHT_MODE: 'auto' }, async (host) => {
    const key = 'plain-words-as-a-key';
    await open(host, 's1');
    const to = { provider: 'openai-chat' as const, baseUrl: 'https://models.example.org/v1' };
    expect(await host.runner.saveKey({ ...to, key })).toMatchObject({ ok: true });
    const [app] = host.apps.values();
    const context = new ExecutionContext({ workingDir: place.workspace, sessionId: 's1' });
    const written = await app?.executor.execute('write_file', context, { path: 'a.txt', content: key });
    expect(written).toMatchObject({ ok: true });
    await host.ledger.note('s1', {
      type: 'message.added',
      callId: null,
      at: Date.now(),
      data: { messageId: 'm', role: 'user', text: `It is ${key}` },
    });
    const record = JSON.stringify([await host.ledger.events('s1'), await host.ledger.calls({})]);
    expect(record).toContain('It is [redacted]');
    expect(record).not.toContain(key);
  });
});

test('without a model a message is refused with the next step, and the demo plays on its workspace', {
  timeout: 60_000,
}, async () => {
  using place = createCliFixture(process.env.PATH);
  cpSync(new URL('../../../examples/demo-workspace', import.meta.url), place.workspace, { recursive: true });
  await withHost(place, { TOOLWRIGHT_MODE: 'auto' }, async (host) => {
    await open(host, 'd1');
    expect(host.runner.models().current).toBeNull();
    expect(await host.runner.send('d1', 'Hi', 'ana')).toMatchObject({ ok: false, error: { code: 'NOT_CONFIGURED' } });
    expect(await host.runner.demo('d1', 'ana')).toMatchObject({ ok: true });
    await over(host, 'd1');
    const events = await host.ledger.events('d1');
    expect(events.at(-1)).toMatchObject({ type: 'run.finished', data: { reason: 'done' } });
    expect(JSON.stringify(events)).toContain('The report is in reports/efficiency_report.md: changes 8');
  });
});
