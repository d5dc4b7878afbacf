import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { LogEvent } from '../kernel/event.ts';
import type { Ledger } from '../kernel/ledger.ts';
import { type Check, checksOf } from './contract.ts';
import { AT, asked, decided, finished, requestedCall, started } from './sample-calls.ts';

/** A ledger, and a way to open the same data again as another process would. */
export interface SharedLedger {
  readonly ledger: Ledger;
  another(): Promise<Ledger>;
}

type Open = () => Promise<{ subject: SharedLedger; close(): void | Promise<void> }>;

const TO_QUEUED = { from: ['awaiting_approval'], to: 'queued' } as const;

/** What the doors rely on in a store that outlives its process. */
export function ledgerContract(open: Open): Check[] {
  return checksOf<SharedLedger>(open, {
    async 'what was acknowledged is there for the next process'({ ledger, another }) {
      const call = requestedCall({ key: 'k1' });
      await ledger.submit(call);
      await ledger.move(...started(call));
      const end = await ledger.move(...finished(call));
      const other = await another();
      assert.equal((await other.call(call.id))?.state, 'succeeded');
      assert.deepEqual((await other.events('s1')).at(-1), end);
      assert.equal((await other.submit(requestedCall({ key: 'k1' }))).event, null);
    },

    async 'two processes never give the same seq or pos'({ ledger, another }) {
      const both = [ledger, await another()];
      await Promise.all(
        Array.from({ length: 40 }, async (_, index) => {
          const store = both[index % 2] ?? ledger;
          const call = requestedCall({ session: index % 4 < 2 ? 's1' : 's2' });
          await store.submit(call);
          await store.move(...finished(call));
        }),
      );
      const events = await ledger.log(0, 1000);
      assert.deepEqual(
        events.map(({ pos }) => pos),
        Array.from({ length: 80 }, (_, index) => index + 1),
      );
      assert.equal((await ledger.events('s1')).length, 40);
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'the first decision wins, and moves the call with it'({ ledger, another }) {
      const other = await another();
      const call = requestedCall();
      await ledger.submit(call);
      await ledger.move(...asked(call, 'a1'));
      assert.deepEqual(
        (await other.approvals({ state: 'pending' })).map(({ id, args, digest }) => ({ id, args, digest })),
        [{ id: 'a1', args: { path: 'a.txt' }, digest: 'd1' }],
      );
      const answers = await Promise.all([
        ledger.decide(decided(call, 'a1', { by: 'ann' }), TO_QUEUED),
        other.decide(decided(call, 'a1', { approved: false, by: 'bob' }), { ...TO_QUEUED, to: 'denied' }),
        ledger.decide(decided(call, 'a1', { approved: false, by: 'cid' }), { ...TO_QUEUED, to: 'denied' }),
      ]);
      const winners = answers.filter((event) => event !== null);
      assert.equal(winners.length, 1);
      const [approval] = await ledger.approvals({});
      const state = (await ledger.call(call.id))?.state;
      assert.equal(state, approval?.state === 'approved' ? 'queued' : 'denied');
      assert.equal((await ledger.events('s1')).length, 3);
    },

    async 'a decision about a call that went on is undone as a whole'({ ledger }) {
      const call = requestedCall();
      await ledger.submit(call);
      await ledger.move(...asked(call, 'a1'));
      const running = { from: ['running'], to: 'failed' } as const;
      const others = Array.from({ length: 3 }, () => ledger.submit(requestedCall()));
      assert.equal(await ledger.decide(decided(call, 'a1'), running), null);
      await Promise.all(others);
      assert.equal((await ledger.approvals({}))[0]?.state, 'pending');
      assert.equal((await ledger.events('s1')).length, 5);
      assert.equal(await ledger.decide(decided(call, 'nobody')), null);
    },

    async "an approval expires by the store's clock, and its call with it"({ ledger }) {
      const [soon, late, ever] = [requestedCall(), requestedCall(), requestedCall()];
      for (const call of [soon, late, ever]) await ledger.submit(call);
      const now = await ledger.now();
      await ledger.move(...asked(soon, 'soon', { expiresAt: now }));
      await ledger.move(...asked(late, 'late', { expiresAt: now + 3_600_000 }));
      await ledger.move(...asked(ever, 'ever'));
      assert.equal(await ledger.decide(decided(soon, 'soon'), TO_QUEUED), null);
      const events = await ledger.expire();
      assert.deepEqual(
        events.map(({ type, callId }) => [type, callId]),
        [
          ['approval.decided', soon.id],
          ['call.finished', soon.id],
        ],
      );
      assert.deepEqual(await ledger.expire(), []);
      assert.equal((await ledger.call(soon.id))?.state, 'expired');
      assert.deepEqual((await ledger.approvals({ state: 'pending' })).map(({ id }) => id).sort(), ['ever', 'late']);
    },

    async 'a call that ended leaves no question open'({ ledger }) {
      const call = requestedCall();
      await ledger.submit(call);
      await ledger.move(...asked(call, 'a1'));
      await ledger.move(...finished(call, { state: 'cancelled' }));
      assert.deepEqual(await ledger.approvals({ state: 'pending' }), []);
    },

    async 'large arguments of an approval come back whole'({ ledger }) {
      const args = { content: 'x'.repeat(20_000) };
      const call = requestedCall({ args });
      await ledger.submit(call);
      await ledger.move(...asked(call, 'a1'));
      assert.deepEqual((await ledger.approvals({}))[0]?.args, args);
    },

    async 'rules and tool states are what their events say'({ ledger, another }) {
      const rule = { ruleId: 'r1', rule: 'bash(npm test *)', verdict: 'allow', by: 'ann' } as const;
      await ledger.record({ type: 'rule.saved', at: AT, data: rule });
      await ledger.record({ type: 'rule.saved', at: AT + 1, data: { ...rule, ruleId: 'r2', verdict: 'deny' } });
      await ledger.record({ type: 'rule.removed', at: AT + 2, data: { ruleId: 'r1', by: null } });
      await ledger.record({ type: 'tool.switched', at: AT, data: { tool: 'bash', enabled: false, by: null } });
      await ledger.record({ type: 'tool.switched', at: AT, data: { tool: 'grep', enabled: false, by: null } });
      await ledger.record({ type: 'tool.switched', at: AT, data: { tool: 'grep', enabled: true, by: null } });
      const other = await another();
      assert.deepEqual(await other.rules(), [
        { id: 'r2', rule: 'bash(npm test *)', verdict: 'deny', by: 'ann', savedAt: AT + 1 },
      ]);
      assert.deepEqual(
        [...(await other.toolStates())],
        [
          ['bash', false],
          ['grep', true],
        ],
      );
      assert.deepEqual(
        (await other.log(0, 10)).map(({ session, callId, seq }) => [session, callId, seq]),
        [1, 2, 3, 4, 5, 6].map((seq) => ['@system', null, seq]),
      );
    },

    async 'history is filtered by agent and time, and read from either end'({ ledger }) {
      const ids: string[] = [];
      for (let index = 0; index < 6; index++) {
        const call = requestedCall({ agent: index % 2 === 0 ? 'a' : 'b', requestedAt: AT + index * 1000 });
        ids.push(call.id);
        await ledger.submit(call);
      }
      const idsOf = async (query: Parameters<Ledger['history']>[0]) =>
        (await ledger.history(query)).items.map(({ id }) => id);
      assert.deepEqual(await idsOf({ agent: 'a' }), [ids[0], ids[2], ids[4]]);
      assert.deepEqual(await idsOf({ since: AT + 1000, until: AT + 3000 }), [ids[1], ids[2]]);
      const newest = await ledger.history({ newestFirst: true, limit: 4 });
      assert.deepEqual(
        newest.items.map(({ id }) => id),
        [ids[5], ids[4], ids[3], ids[2]],
      );
      assert.deepEqual(await idsOf({ newestFirst: true, limit: 4, after: newest.next ?? '' }), [ids[1], ids[0]]);
    },

    async 'sessions are listed by page'({ ledger }) {
      for (const session of ['a', 'b', 'c']) await ledger.submit(requestedCall({ session }));
      const one = await ledger.sessions({ limit: 2 });
      const two = await ledger.sessions({ limit: 2, after: one.next ?? '' });
      assert.deepEqual(
        [...one.items, ...two.items].map(({ id, lastSeq }) => [id, lastSeq]),
        [
          ['a', 1],
          ['b', 1],
          ['c', 1],
        ],
      );
      assert.equal(two.next, null);
    },

    async 'a follower hears its own process and others, each event once and in order'({ ledger, another }) {
      const other = await another();
      const heard: LogEvent[] = [];
      const stop = ledger.follow((event) => heard.push(event));
      await Promise.all(
        Array.from({ length: 30 }, (_, index) => (index % 2 === 0 ? ledger : other).submit(requestedCall())),
      );
      await until(() => heard.length >= 30);
      stop();
      await ledger.submit(requestedCall());
      await delay(100);
      assert.deepEqual(
        heard.map(({ pos }) => pos),
        Array.from({ length: 30 }, (_, index) => index + 1),
      );
      const later: number[] = [];
      const stopLater = other.follow(({ pos }) => later.push(pos), 28);
      await until(() => later.length >= 3);
      stopLater();
      assert.deepEqual(later, [29, 30, 31]);
    },

    async 'the word of an earlier attempt is not heard'({ ledger }) {
      const call = requestedCall();
      await ledger.submit(call);
      await ledger.move(...started(call));
      const [id, move, event] = finished(call);
      assert.equal(await ledger.move(id, { ...move, attempt: 2 }, event), null);
      assert.notEqual(await ledger.move(id, { ...move, attempt: 1 }, event), null);
    },

    async 'a running call is moved by its own process only'({ ledger, another }) {
      const other = await another();
      const call = requestedCall();
      await ledger.submit(call);
      await ledger.move(...started(call));
      assert.equal(await other.move(...finished(call)), null);
      assert.deepEqual((await other.call(call.id))?.node, ledger.node);
      assert.notEqual(await ledger.move(...finished(call)), null);
    },

    async 'recovery leaves the calls of living processes alone'({ ledger, another }) {
      const other = await another();
      const [waiting, running] = [requestedCall(), requestedCall()];
      await ledger.submit(waiting);
      await ledger.submit(running);
      await ledger.move(...started(running));
      assert.deepEqual(await other.recover(), []);
      assert.deepEqual(await ledger.recover(), []);
      assert.equal((await ledger.call(running.id))?.state, 'running');
    },

    async 'recovery queues what may run again and interrupts what may not'({ ledger, another }) {
      const gone = await another();
      const calls = (['pure', 'idempotent', 'once'] as const).map((effect) => requestedCall({ effect }));
      for (const call of calls) {
        await gone.submit(call);
        await gone.move(...started(call));
      }
      const [never, asking] = [requestedCall(), requestedCall()];
      await gone.submit(never);
      await gone.submit(asking);
      await gone.move(...asked(asking, 'a1'));
      await gone.close();

      const events = await ledger.recover();
      assert.deepEqual(
        events.map(({ type }) => type),
        ['call.requeued', 'call.requeued', 'call.finished', 'call.requeued'],
      );
      const states = await Promise.all([...calls, never, asking].map(({ id }) => ledger.call(id)));
      assert.deepEqual(
        states.map((call) => call?.state),
        ['queued', 'queued', 'interrupted', 'queued', 'awaiting_approval'],
      );
      assert.match(states[2]?.outcome?.error?.message ?? '', /outcome is not known/);
      assert.deepEqual(await ledger.recover(), []);
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'a call that ends its process three times is not queued again'({ ledger, another }) {
      const call = requestedCall({ effect: 'pure' });
      await ledger.submit(call);
      const [id, move, event] = started(call);
      for (let attempt = 1; attempt <= 3; attempt++) {
        const gone = await another();
        await gone.move(id, { ...move, from: ['requested', 'queued'] }, event);
        await gone.close();
        await ledger.recover();
        assert.equal((await ledger.call(id))?.attempt, attempt);
      }
      assert.equal((await ledger.call(id))?.state, 'interrupted');
    },

    async 'the log is exported as lines of JSON, payloads included'({ ledger }) {
      const call = requestedCall({ args: { content: 'x'.repeat(10_000) } });
      await ledger.submit(call);
      await ledger.move(...finished(call));
      await ledger.submit(requestedCall({ session: 's2' }));
      const lines: string[] = [];
      for await (const line of ledger.exportLines()) lines.push(line);
      const events = lines.map((line) => JSON.parse(line) as { pos: number; data: { args?: unknown }; hash: string });
      assert.deepEqual(
        events.map(({ pos }) => pos),
        [1, 2, 3],
      );
      assert.deepEqual(events[0]?.data.args, call.args);
      const one: string[] = [];
      for await (const line of ledger.exportLines({ session: 's2' })) one.push(line);
      assert.deepEqual(one, lines.slice(2));
    },

    async 'pruning by age forgets from the front, keeps the unfinished, and the rest still verifies'({ ledger }) {
      const old = requestedCall({ args: { content: 'x'.repeat(10_000) } });
      await ledger.submit(old);
      await ledger.move(...finished(old, { at: AT + 10 }));
      const stuck = requestedCall({ requestedAt: AT + 20 });
      await ledger.submit(stuck);
      const young = requestedCall({ requestedAt: AT + 5000 });
      await ledger.submit(young);
      await ledger.move(...finished(young, { at: AT + 5001 }));
      const done = requestedCall({ session: 's2' });
      await ledger.submit(done);
      await ledger.move(...finished(done, { at: AT + 10 }));

      const { events, calls } = await ledger.prune({ before: AT + 1000 });
      assert.deepEqual([events, calls], [4, 2]);
      assert.equal(await ledger.call(old.id), null);
      assert.equal((await ledger.call(stuck.id))?.state, 'requested');
      assert.deepEqual(
        (await ledger.events('s1')).map(({ seq }) => seq),
        [3, 4, 5],
      );
      assert.deepEqual(await ledger.verify(), { sessions: 2, events: 3, problems: [] });
      assert.equal((await ledger.submit(requestedCall({ session: 's2' }))).event?.seq, 3);
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'pruning by size forgets the oldest first'({ ledger }) {
      const args = { content: 'x'.repeat(4000) };
      for (let index = 0; index < 150; index++) {
        const call = requestedCall({ args, session: `s${index % 5}` });
        await ledger.submit(call);
        await ledger.move(...finished(call));
      }
      const before = (await ledger.prune({ maxBytes: Number.MAX_SAFE_INTEGER })).bytes;
      const { bytes, events } = await ledger.prune({ maxBytes: before / 2 });
      assert.ok(bytes <= before / 2, `${bytes} of ${before}`);
      assert.ok(events > 100 && events < 300, String(events));
      const [oldest] = await ledger.log(0, 1);
      assert.ok((oldest?.pos ?? 0) > 50);
      assert.deepEqual((await ledger.verify()).problems, []);
    },
  });
}

/** Waits for what must come; the bound only ends a hang. */
async function until(reached: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !reached(); tries++) await delay(10);
}
