import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '../../../src/app/start-server.ts';
import { openDatabase } from '../../../src/storage/sqlite/driver.ts';
import { openSqliteStore } from '../../../src/storage/sqlite/open.ts';
import type { TestServer } from '../../server/test-server.ts';
import type { OutcomeName } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import type { WireAnswer } from '../raw-http.ts';

interface Tried {
  readonly answers: WireAnswer[];
  readonly wrong: string | null;
}

/** How long others may wait beside one request: far more than they do, far less than the seconds that it once took. */
const MAX_WAIT_MS = 1500;

export async function explainBesideOthers(server: TestServer): Promise<Tried> {
  const token = await server.tokenFor('eve', 'viewer');
  const answers: WireAnswer[] = [];
  let slowest = 0;
  for (const part of ['cd a;', 'cat|', 'a=b;', 'sudo ', 'rm a b c;']) {
    const command = `${part.repeat(Math.ceil(100_000 / part.length)).slice(0, 100_000)} true`;
    const asked = server.post('/v1/explain', { tool: 'bash', args: { command } }, token);
    const begun = performance.now();
    const health = await server.get('/v1/health');
    slowest = Math.max(slowest, performance.now() - begun);
    if (health.status !== 200) return { answers, wrong: `health answers with ${health.status}` };
    const { status, body } = await asked;
    answers.push({ status, headers: {}, text: JSON.stringify(body).slice(0, 1000) });
  }
  return { answers, wrong: slowest < MAX_WAIT_MS ? null : `another request waited ${Math.round(slowest)} ms` };
}

/** The streams of a token for one session, while another session works; the last event tells that all came before it. */
export async function limitedStreams(server: TestServer): Promise<Tried> {
  for (const id of ['session-a', 'session-b']) await server.post('/v1/sessions', { id });
  const token = await server.tokenFor('guest', 'viewer', ['session-a']);
  const own = '/v1/events?session=session-a';
  const paths = [own, '/v1/events', '/v1/events?after=0', '/v1/events?session=session-b'];
  const streams = await Promise.all(paths.map((path) => server.fetch(path, { token })));
  for (const [session, path] of [
    ['session-b', 'secret-of-b.txt'],
    ['session-a', 'last-of-a.txt'],
  ])
    await server.post('/v1/calls', { tool: 'list_directory', args: { path }, session });
  const texts = await Promise.all(
    streams.map((stream) => (stream.status === 200 ? readUntil(stream, 'last-of-a') : stream.text())),
  );
  const heard = texts.some((text) => text.includes('last-of-a')) ? null : 'no stream told of its own session';
  const found = texts.findIndex((text) => text.includes('secret-of-b'));
  const answers = streams.map(({ status }, at) => ({ status, headers: {}, text: texts[at] ?? '' }));
  return { answers, wrong: found === -1 ? heard : `${paths[found]} tells of the other session` };
}

async function readUntil(stream: Response, mark: string): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(mark)) break;
  }
  return text;
}

/** Settings that others could write: it does not start. */
export async function startWithOpenSettings({ workspace, values, path }: Fixture): Promise<OutcomeName> {
  const home = values.HOME ?? '';
  const folder = join(home, '.config/toolwright');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'config.json'), '{"allow":["bash"]}');
  chmodSync(join(folder, 'config.json'), 0o666);
  chmodSync(folder, 0o777);
  const env = { PATH: path ?? '' };
  const started = await startServer({ workspaces: [workspace], env, home, flags: { port: '0' } });
  if (!started.ok) return started.error.message.includes('chmod') ? 'error' : 'reject';
  await started.value.close();
  return 'allow';
}

/** A rule that nobody saved is put into the table. */
export async function ruleByHand({ folder }: Fixture): Promise<OutcomeName> {
  const place = join(folder, 'rules');
  mkdirSync(place, { mode: 0o700 });
  const opened = await openSqliteStore(place);
  if (!opened.ok) throw new Error(opened.error.message);
  const { store } = opened.value;
  try {
    if ((await store.verify()).problems.length > 0) throw new Error('there are problems before it');
    const db = openDatabase(join(place, 'state.db'));
    db.exec("INSERT INTO rules (id, rule, verdict, saved_at) VALUES ('r', 'bash', 'allow', 5)");
    db.close();
    const { problems } = await store.verify();
    return problems.some((each) => each.includes('no event saved it')) ? 'error' : 'allow';
  } finally {
    await store.close();
  }
}
