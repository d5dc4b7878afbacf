import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { CallRecord } from '../../kernel/call/call.ts';
import { type LogEvent, type NewEvent, SYSTEM_SESSION } from '../../kernel/call/event.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { type ContractCheck, checksOf } from '../contract.ts';
import { AT, asked, decided, finished, requestedCall, started } from '../sample-calls.ts';

/** A ledger, and a way to open the same data again as another process would. */
export interface SharedLedger {
  readonly ledger: Ledger;
  another(): Promise<Ledger>;
}

export type OpenShared = () => Promise<{ subject: SharedLedger; close(): void | Promise<void> }>;

/** Contract of a store that outlives its process. */
export function ledgerContract(open: OpenShared): ContractCheck[] {
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

    async 'a session is held by one process at a time, and taken over from one that ended'({ ledger, another }) {
      const [other, third] = [await another(), await another()];
      const message = { type: 'message.added', callId: null, at: AT } as const;
      const said = (text: string): NewEvent => ({ ...message, data: { messageId: text, role: 'user', text } });
      const taken = await Promise.all([ledger, other, third].map((each) => each.hold('s1')));
      assert.equal(taken.filter((hold) => 'release' in hold).length, 1);
      const winner = [ledger, other, third][taken.findIndex((hold) => 'release' in hold)];
      const [loser] = [other, third].filter((each) => each !== winner);
      assert.ok(winner && loser);
      const refused = await loser.hold('s1');
      assert.match('holder' in refused ? refused.holder : '', new RegExp(`process ${process.pid} on `));
      assert.ok('holder' in (await winner.hold('s1')), 'nor twice by the same');
      assert.ok('release' in (await loser.hold('s2')), 'another session is free');
      await winner.append('s1', [said('mine')]);
      for (const hold of taken) if ('release' in hold) await hold.release();
      const again = await loser.hold('s1');
      assert.ok('release' in again, 'what was given back is free');
      await loser.close();
      const after = await ledger.hold(winner === ledger ? 's2' : 's1');
      assert.ok('release' in after, 'what an ended process held is free');
      assert.deepEqual((await winner.events('s1')).length, 1);
    },

    async 'the first decision wins'({ ledger, another }) {
      const other = await another();
      const call = requestedCall();
      await ledger.submit(call);
      await ledger.move(...asked(call, 'a1'));
      assert.deepEqual(
        (await other.approvals({ state: 'pending' })).map(({ id, args, digest }) => ({ id, args, digest })),
        [{ id: 'a1', args: { path: 'a.txt' }, digest: 'd1' }],
      );
      const answers = await Promise.all([
        ledger.decide(decided(call, 'a1', { by: 'ann' })),
        other.decide(decided(call, 'a1', { approved: false, by: 'bob' })),
        ledger.decide(decided(call, 'a1', { approved: false, by: 'cid' })),
      ]);
      const winners = answers.filter((event) => event !== null);
      assert.equal(winners.length, 1);
      const [approval] = await ledger.approvals({});
      assert.equal(approval?.state, approval?.decidedBy === 'ann' ? 'approved' : 'denied');
      assert.equal((await ledger.events('s1')).length, 3);
      assert.equal(await ledger.decide(decided(call, 'nobody')), null);
    },

    async 'the rules of a decision are saved with it, or not at all'({ ledger, another }) {
      const call = requestedCall();
      await ledger.submit(call);
      await ledger.move(...asked(call, 'a1'));
      const rule = (ruleId: string) => {
        const data = { ruleId, rule: `allow write_file(${ruleId})`, verdict: 'allow', by: 'ann' } as const;
        return { type: 'rule.saved', at: AT, data } as const;
      };
      assert.equal(await ledger.decide(decided(call, 'nobody'), [rule('r0')]), null);
      assert.deepEqual(await ledger.rules(), []);
      const other = await another();
      const answers = await Promise.all([
        ledger.decide(decided(call, 'a1'), [rule('r1'), rule('r2')]),
        other.decide(decided(call, 'a1'), [rule('r3'), rule('r4')]),
      ]);
      const saved = (await other.rules()).map(({ id }) => id).sort();
      assert.deepEqual(saved, answers[0] === null ? ['r3', 'r4'] : ['r1', 'r2']);
      const told = (await ledger.log(0, 100)).filter(({ session }) => session === SYSTEM_SESSION);
      assert.deepEqual(
        told.map(({ type }) => type),
        ['rule.saved', 'rule.saved'],
      );
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async "an approval expires by the store's clock, and its call with it"({ ledger }) {
      const [soon, late, ever] = [requestedCall(), requestedCall(), requestedCall()];
      for (const call of [soon, late, ever]) await ledger.submit(call);
      const now = await ledger.now();
      await ledger.move(...asked(soon, 'soon', { expiresAt: now }));
      await ledger.move(...asked(late, 'late', { expiresAt: now + 3_600_000 }));
      await ledger.move(...asked(ever, 'ever'));
      assert.equal(await ledger.decide(decided(soon, 'soon')), null);
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
      const args = { content: 'x'.repeat(50_000) };
      const call = requestedCall({ args });
      await ledger.submit(call);
      await ledger.move(...asked(call, 'a1'));
      assert.deepEqual((await ledger.approvals({}))[0]?.args, args);
    },

    async 'odd text in questions and answers does no harm'({ ledger }) {
      const odd = `zero \0 half \ud800 ${'long '.repeat(2000)}`;
      const call = requestedCall({ tool: odd, session: odd });
      await ledger.submit(call);
      const [id, move, event] = asked(call, odd);
      const data = { ...(event as NewEvent<'approval.requested'>).data, reason: odd, digest: odd };
      await ledger.move(id, move, { ...event, data } as NewEvent);
      assert.equal((await ledger.approvals({ session: odd })).length, 1);
      const decision = decided(call, odd, { by: odd });
      assert.notEqual(await ledger.decide({ ...decision, data: { ...decision.data, message: odd } }), null);
      assert.equal((await ledger.approvals({}))[0]?.state, 'approved');
      const lines: string[] = [];
      for await (const line of ledger.exportLines({ session: odd })) lines.push(line);
      assert.equal(lines.length, 3);
      assert.deepEqual((await ledger.sessions({ after: odd })).items, []);
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'a clock that counts fractions of milliseconds does no harm'({ ledger }) {
      const call = requestedCall({ requestedAt: AT + 0.4 });
      const { event } = await ledger.submit(call);
      await ledger.move(...asked(call, 'a1', { at: AT + 1.6, expiresAt: (await ledger.now()) + 60_000.5 }));
      await ledger.decide(decided(call, 'a1', { at: AT + 2.2 }));
      await ledger.move(...started(call, AT + 3.3));
      await ledger.move(...finished(call, { at: AT + 4.7 }));
      const { requestedAt, startedAt, finishedAt } = (await ledger.call(call.id)) as CallRecord;
      assert.deepEqual([event?.at, requestedAt, startedAt, finishedAt], [AT, AT, AT + 3, AT + 5]);
      assert.deepEqual((await ledger.events('s1'))[0], event);
      assert.deepEqual((await ledger.verify()).problems, []);
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
      assert.deepEqual(await idsOf({ since: AT + 999.5, until: AT + 2999.5 }), [ids[1], ids[2]]);
      assert.deepEqual(await idsOf({ newestFirst: true, after: 'nonsense' }), []);
      const newest = await ledger.history({ newestFirst: true, limit: 4 });
      assert.deepEqual(
        newest.items.map(({ id }) => id),
        [ids[5], ids[4], ids[3], ids[2]],
      );
      assert.deepEqual(await idsOf({ newestFirst: true, limit: 4, after: newest.next ?? '' }), [ids[1], ids[0]]);
    },

    async 'sessions are listed by their newest event, and questions as they were asked, page by page'({ ledger }) {
      const at = { a: 3, b: 1, c: 2, d: 2 };
      for (const [session, hours] of Object.entries(at)) {
        const call = requestedCall({ session, requestedAt: AT + hours * 1000 });
        await ledger.submit(call);
        await ledger.move(...asked(call, `of-${session}`, { at: AT + hours * 1000 }));
      }
      const one = await ledger.sessions({ newestFirst: true, limit: 2 });
      const two = await ledger.sessions({ newestFirst: true, limit: 2, after: one.next ?? '' });
      assert.deepEqual(
        [...one.items, ...two.items].map(({ id }) => id),
        ['a', 'd', 'c', 'b'],
      );
      assert.equal(two.next, null);
      assert.deepEqual((await ledger.sessions({ newestFirst: true, after: 'nonsense' })).items, []);
      const first = await ledger.approvals({ limit: 3 });
      const rest = await ledger.approvals({ limit: 3, after: first.at(-1)?.id ?? '' });
      assert.deepEqual(
        [...first, ...rest].map(({ id }) => id),
        ['of-b', 'of-c', 'of-d', 'of-a'],
      );
      assert.deepEqual(await ledger.approvals({ after: 'nobody' }), []);
      assert.deepEqual(
        (await ledger.approvals({ session: 'd', state: 'pending', after: 'of-c' })).map(({ id }) => id),
        ['of-d'],
      );
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
    ...FOLLOWER_CHECKS,
  });
}

type LedgerCheck = (shared: SharedLedger) => Promise<void>;

const FOLLOWER_CHECKS: Readonly<Record<string, LedgerCheck>> = {
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
    const stopLater = other.follow(({ pos }) => later.push(pos), { after: 28 });
    await until(() => later.length >= 3);
    stopLater();
    assert.deepEqual(later, [29, 30, 31]);
  },

  async 'a follower of some types hears no others, from now on or from a position'({ ledger, another }) {
    const other = await another();
    const types = ['call.cancel_requested'] as const;
    const heard: string[] = [];
    const stop = ledger.follow(({ type }) => heard.push(type), { types });
    const call = requestedCall();
    await other.submit(call);
    const cancel = { type: 'call.cancel_requested', callId: call.id, at: AT, data: { by: 'ana' } } as const;
    await other.append(call.session, [cancel]);
    await until(() => heard.length >= 1);
    const earlier: string[] = [];
    const stopEarlier = other.follow(({ type }) => earlier.push(type), { types, after: 0 });
    await until(() => earlier.length >= 1);
    stop();
    stopEarlier();
    assert.deepEqual([heard, earlier], [types, types]);
  },

  async 'a follower of some types that threw hears that event again, and still no others'({ ledger }) {
    const types = ['call.cancel_requested'] as const;
    const heard: string[] = [];
    let isAway = true;
    const stop = ledger.follow(
      ({ type }) => {
        heard.push(type);
        if (!isAway) return;
        isAway = false;
        throw new Error('away for a moment');
      },
      { types },
    );
    const call = requestedCall();
    const cancel = { type: 'call.cancel_requested', callId: call.id, at: AT, data: { by: 'ana' } } as const;
    await ledger.submit(call);
    await ledger.append(call.session, [cancel]);
    await ledger.submit(requestedCall());
    await ledger.append(call.session, [cancel]);
    await until(() => heard.length >= 3);
    stop();
    assert.deepEqual(heard, [...types, ...types, ...types]);
  },
};

/** Waits for a condition; the limit only ends a hang. */
async function until(reached: () => boolean): Promise<void> {
  for (let tries = 0; tries < 500 && !reached(); tries++) await delay(10);
}
