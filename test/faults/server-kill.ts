import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogEvent } from '../../src/kernel/call/event.ts';
import { openStore } from '../../src/storage/open.ts';
import { type ServerProcess, startProcess } from './server-process.ts';

export interface KillReport {
  readonly rounds: number;
  /** Events that a reader was told, and calls that somebody was answered about. */
  readonly acknowledged: number;
  readonly lost: string[];
  /** Questions that were never answered, and what ran all the same. */
  readonly asked: number;
  readonly ranUnasked: string[];
  readonly problems: readonly string[];
}

/** Kills a busy server at any moment, again and again on one state directory, then looks at what is left. */
export async function killRounds(folder: string, rounds: number): Promise<KillReport> {
  const workspace = join(folder, 'project');
  mkdirSync(workspace, { recursive: true });
  const heard = new Map<number, string>();
  const calls = new Set<string>();
  const guarded: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const path = `guarded-${round}.txt`;
    writeFileSync(join(workspace, path), 'as it was');
    guarded.push(path);
    const server = await startProcess(workspace, folder);
    const work = [listen(server, heard), askAndLeave(server, path, calls), keepBusy(server, round, calls)];
    // They all break off when the server is killed; what they were told until then counts.
    const broken = Promise.allSettled(work);
    await delay(100 + Math.random() * 500);
    await server.kill();
    await broken;
  }
  const last = await startProcess(workspace, folder);
  await delay(500);
  await last.kill();

  const opened = await openStore({ directory: join(folder, '.local/state/toolwright') });
  if (!opened.ok) throw new Error(opened.error.message);
  const { store } = opened.value;
  try {
    const log = new Map((await store.log(0, 1_000_000)).map((event) => [event.pos, factsOf(event)]));
    const lost = [...heard].filter(([pos, facts]) => log.get(pos) !== facts).map(([pos]) => `event ${pos}`);
    for (const id of calls) if ((await store.call(id)) === null) lost.push(`call ${id}`);
    const ranUnasked = guarded.filter((path) => readFileSync(join(workspace, path), 'utf8') !== 'as it was');
    const { problems } = await store.verify();
    return { rounds, acknowledged: heard.size + calls.size, lost, asked: guarded.length, ranUnasked, problems };
  } finally {
    await store.close();
  }
}

function factsOf({ pos, seq, type, session, callId }: LogEvent): string {
  return JSON.stringify([pos, seq, type, session, callId]);
}

async function listen(server: ServerProcess, heard: Map<number, string>): Promise<void> {
  const { body } = await server.fetch('/v1/events?after=0');
  let text = '';
  for await (const chunk of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1];
      text = text.slice(end + 2);
      if (data === undefined) continue;
      const event = JSON.parse(data) as LogEvent;
      if ('pos' in event) heard.set(event.pos, factsOf(event));
    }
  }
}

async function askAndLeave(server: ServerProcess, path: string, calls: Set<string>): Promise<void> {
  const args = { path, content: 'changed without a yes' };
  const { status, body } = await server.post('/v1/calls', { tool: 'write_file', args, wait: false });
  if (status < 300) calls.add(body.id);
}

/** New files need no yes, so these run at once. */
async function keepBusy(server: ServerProcess, round: number, calls: Set<string>): Promise<void> {
  for (let count = 0; ; count++) {
    const args = { path: `new/${round}-${count}.txt`, content: 'x' };
    const { status, body } = await server.post('/v1/calls', { tool: 'write_file', args });
    if (status < 300) calls.add(body.id);
  }
}
