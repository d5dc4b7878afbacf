import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openStore } from '../../../src/storage/open.ts';
import { fillServersDisk } from '../../faults/server-full-disk.ts';
import { killRounds } from '../../faults/server-kill.ts';
import { type ServerProcess, startProcess } from '../../faults/server-process.ts';
import type { OutcomeName } from '../attack.ts';
import type { Fixture } from '../fixture.ts';
import type { Runner } from '../harness.ts';

interface Happened {
  readonly outcome: OutcomeName;
  /** The finding of the check; null when there is none. */
  readonly wrong: string | null;
}

/** Faults of the record itself, with the built server as a process of its own. */
export const recordRunner: Runner = {
  kind: 'execute',
  async run(fixture) {
    const { outcome, wrong } = (await FLOWS[fixture.attack.class]?.(fixture)) ?? {};
    if (outcome === undefined) return undefined;
    return { outcomes: [outcome], text: wrong ?? '', durationMs: 0, detail: wrong };
  },
  texts: { data: (_fixture, seen) => seen.detail as string | null },
};

const FLOWS: Readonly<Record<string, (fixture: Fixture) => Promise<Happened>>> = {
  async 'data.session-log-torn'({ attack, folder }) {
    const rounds = Number(/(\d+) rounds/.exec(String(attack.input.flow))?.[1] ?? 20);
    const { lost, ranUnasked, problems } = await killRounds(join(folder, 'killed'), rounds);
    return { outcome: 'allow', wrong: [...lost, ...ranUnasked, ...problems][0] ?? null };
  },

  async 'data.two-instances'({ attack, folder }) {
    const writes = Number(/(\d+) writes/.exec(String(attack.input.flow))?.[1] ?? 50);
    const [home, workspace] = [join(folder, 'both'), join(folder, 'both/project')];
    mkdirSync(workspace, { recursive: true });
    const servers = [await startProcess(workspace, home), await startProcess(workspace, home)];
    const ids = (await Promise.all(servers.map((server, at) => writeMany(server, `of-${at}`, writes)))).flat();
    await Promise.all(servers.map((server) => server.kill()));
    const missing = servers.flatMap((_, at) =>
      Array.from({ length: writes }, (_, count) => `of-${at}-${count}.txt`).filter(
        (name) => !existsSync(join(workspace, name)),
      ),
    );
    return { outcome: 'allow', wrong: missing[0] ?? (await wrongInStore(home, ids)) };
  },

  async 'data.log-enospc'() {
    const { before, whileFull, healthy, after } = await fillServersDisk();
    const failed = whileFull.filter(({ body }) => body.state !== 'succeeded');
    const silent = failed.find(({ status, body }) => status < 500 && body.state !== 'failed');
    if (before.body.state !== 'succeeded' || failed.length === 0)
      return { outcome: 'allow', wrong: 'it was never full' };
    const wrong = silent === undefined ? null : `a call ended as ${silent.body.state} (${silent.status})`;
    const up = healthy && after.body.state === 'succeeded' ? null : 'it did not go on when there was space again';
    return { outcome: 'error', wrong: wrong ?? up };
  },
};

async function writeMany(server: ServerProcess, name: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  let next = 0;
  const work = async () => {
    for (let at = next++; at < count; at = next++) {
      const args = { path: `${name}-${at}.txt`, content: `${at}\n` };
      const { body } = await server.post('/v1/calls', { tool: 'write_file', args });
      ids.push(body.state === 'succeeded' ? body.id : `${body.state ?? body.detail}`);
    }
  };
  await Promise.all([work(), work(), work(), work()]);
  return ids;
}

async function wrongInStore(home: string, ids: readonly string[]): Promise<string | null> {
  const opened = await openStore({ directory: join(home, '.local/state/toolwright') });
  if (!opened.ok) return opened.error.message;
  const { store } = opened.value;
  try {
    for (const id of ids) {
      const call = await store.call(id);
      if (call?.state !== 'succeeded') return `call ${id} is ${call?.state ?? 'not in the store'}`;
    }
    return (await store.verify()).problems[0] ?? null;
  } finally {
    await store.close();
  }
}
