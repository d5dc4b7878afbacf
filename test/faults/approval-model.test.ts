import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Host, openHost } from '../../src/app/open-host.ts';
import { ExecutionContext } from '../../src/kernel/call/execution-context.ts';
import { ok } from '../../src/kernel/result.ts';
import { defineTool } from '../../src/kernel/tool/tool.ts';

const STEPS = 10_000;

/** A small generator, so that a run that fails can be repeated. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
    return state / 2 ** 32;
  };
}

/** The model's record of a request: every answer that was accepted, and the arguments it was for. */
interface Known {
  readonly approved: { n: number } | null;
  readonly denied: boolean;
}

test('ten thousand random steps of two clients with restarts: nothing runs without a matching approval, and nothing twice', async () => {
  const seed = Date.now() % 2 ** 31;
  const random = numbers(seed);
  const home = mkdtempSync(join(tmpdir(), 'model-'));
  const workspace = join(home, 'project');
  mkdirSync(workspace);
  /** The arguments of each actual run, by call. */
  const ran = new Map<string, number[]>();
  const act = defineTool({
    name: 'act',
    description: 'Counts.',
    input: z.object({ n: z.number() }),
    access: () => [],
    approval: () => ({ reason: 'It counts.', always: true }),
    run({ n }, { callId }) {
      ran.set(callId, [...(ran.get(callId) ?? []), n]);
      return ok(n);
    },
  });
  const open = async (): Promise<Host> => {
    const env = { PATH: process.env.PATH ?? '' };
    const opened = await openHost({ workspaces: [workspace], env, home, tools: [act] });
    if (!opened.ok) throw new Error(opened.error.message);
    return opened.value;
  };
  const hosts = [await open(), await open()];
  const either = () => hosts[random() < 0.5 ? 0 : 1] as Host;
  const [entry] = either().workspaces;
  const data = { workspace: entry?.[0] ?? '', title: null, agent: null, by: null };
  await either().ledger.note('s', { type: 'session.created', callId: null, at: Date.now(), data });

  const known = new Map<string, Known>();
  let asked = 0;
  let waiting: string[] = [];
  for (let step = 0; step < STEPS; step++) {
    const dice = random();
    if (dice < 0.3 && waiting.length < 40) ask(either(), asked++);
    else if (dice < 0.32) waiting = await questions();
    else if (dice < 0.6) await answer(either(), 'approve');
    else if (dice < 0.75) await answer(either(), 'edit');
    else if (dice < 0.9) await answer(either(), 'deny');
    else if (dice < 0.95) await Promise.all(['approve', 'deny'].map((way) => answer(either(), way, waiting[0])));
    else if (dice < 0.952) await restart();
    else await cancel(either());
    await new Promise((resolve) => setImmediate(resolve));
    if (step % 20 === 0 || waiting.length === 0) waiting = await questions();
  }
  // The last request may reach its approval only now.
  for (let tries = 0; tries < 600 && (await unfinished()) > 0; tries++) {
    for (const id of await questions()) await either().answers.deny(id, 'end');
    await delay(50);
  }
  expect(await unfinished()).toBe(0);

  const wrong: string[] = [];
  for (const approval of await either().ledger.approvals({})) {
    const runs = ran.get(approval.callId) ?? [];
    const { approved = null, denied = false } = known.get(approval.id) ?? {};
    const matching = approval.state === 'approved' && (approved === null || runs.every((n) => n === approved.n));
    if (runs.length > 1) wrong.push(`${approval.callId} ran ${runs.length} times`);
    if (runs.length > 0 && (!matching || denied))
      wrong.push(`${approval.callId} ran as ${runs} with ${approval.state}`);
    if (approved !== null && denied) wrong.push(`${approval.id} was answered twice`);
  }
  const executed = [...ran.values()].length;
  for (const host of hosts) await host.close();
  rmSync(home, { recursive: true, force: true });
  expect([`seed ${seed}`, wrong]).toEqual([`seed ${seed}`, []]);
  expect(executed).toBeGreaterThan(100);

  function ask(host: Host, n: number): void {
    const [place] = host.workspaces.values();
    const context = new ExecutionContext({ workingDir: workspace, sessionId: 's' });
    void place?.executor.execute('act', context, { n });
  }

  async function questions(): Promise<string[]> {
    return (await either().ledger.approvals({ state: 'pending' })).map(({ id }) => id);
  }

  async function answer(host: Host, way: string, id = waiting[Math.floor(random() * waiting.length)]): Promise<void> {
    if (id === undefined) return;
    const edited = { n: 1_000_000 + Math.floor(random() * 1000) };
    const answered =
      way === 'deny'
        ? await host.answers.deny(id, 'client')
        : await host.answers.approve(id, 'client', way === 'edit' ? await reviewed(host, id, edited) : {});
    if (answered.kind !== 'answered') return;
    const before = known.get(id) ?? { approved: null, denied: false };
    const n = way === 'edit' ? edited : (answered.approval.args as { n: number });
    known.set(id, way === 'deny' ? { ...before, denied: true } : { ...before, approved: n });
  }

  async function reviewed(host: Host, id: string, modifiedArgs: { n: number }) {
    const review = await host.answers.review(id, modifiedArgs);
    return { modifiedArgs, ...(review.kind === 'reviewed' && { digest: review.edit.digest }) };
  }

  async function cancel(host: Host): Promise<void> {
    const approval = await host.ledger.approval(waiting[0] ?? '');
    const call = approval === null ? null : await host.ledger.call(approval.callId);
    if (call !== null && host.live.cancel(call.id)) await delay(1);
  }

  /** One of the two ends without a word, and another takes its place. */
  async function restart(): Promise<void> {
    const which = random() < 0.5 ? 0 : 1;
    await (hosts[which] as Host).close();
    hosts[which] = await open();
  }

  async function unfinished(): Promise<number> {
    const { items } = await either().ledger.calls({ states: ['requested', 'queued', 'running', 'awaiting_approval'] });
    return items.length;
  }
}, 900_000);
