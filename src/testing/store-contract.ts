import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { CallRecord } from '../kernel/call/call.ts';
import type { Store } from '../kernel/ports.ts';
import { type ContractCheck, checksOf } from './contract.ts';
import { AT, finished, requestedCall, started } from './sample-calls.ts';

type OpenStore = () => Promise<{ subject: Store; close(): void | Promise<void> }>;

/** Contract of every store for the executor. Run it against your own store: each check opens a fresh one. */
export function storeContract(open: OpenStore): ContractCheck[] {
  return checksOf<Store>(open, {
    async 'a submitted call can be looked up as it was given'(store) {
      const call = requestedCall({
        agent: 'agent-1',
        key: 'k1',
        digest: 'd1',
        args: { path: 'a', list: [1, null, 'ü'] },
      });
      const { call: recorded, event } = await store.submit(call);
      assert.equal(recorded.id, call.id);
      assert.deepEqual([event?.type, event?.session, event?.seq, event?.callId], ['call.requested', 's1', 1, call.id]);
      assert.deepEqual(essence(await store.call(call.id)), essence(call));
    },

    async 'an unknown call is null'(store) {
      assert.equal(await store.call('nobody'), null);
    },

    async 'the same key in the same session is the same call'(store) {
      const call = requestedCall({ key: 'k1' });
      await store.submit(call);
      const again = await store.submit(requestedCall({ key: 'k1', args: { path: 'other' } }));
      assert.equal(again.event, null);
      assert.deepEqual(essence(again.call), essence(call));
      const elsewhere = await store.submit(requestedCall({ key: 'k1', session: 's2' }));
      assert.notEqual(elsewhere.event, null);
      assert.equal((await store.events('s1')).length, 1);
    },

    async 'the same key submitted twice at once is one call'(store) {
      const both = await Promise.all([
        store.submit(requestedCall({ key: 'k' })),
        store.submit(requestedCall({ key: 'k' })),
      ]);
      assert.equal(both.filter(({ event }) => event !== null).length, 1);
      assert.equal(both[0]?.call.id, both[1]?.call.id);
      assert.equal((await store.calls({})).items.length, 1);
    },

    async 'calls without a key are never the same'(store) {
      await store.submit(requestedCall());
      assert.notEqual((await store.submit(requestedCall())).event, null);
    },

    async 'a move changes the row and appends its event'(store) {
      const call = requestedCall();
      await store.submit(call);
      const start = await store.move(...started({ ...call, effect: 'pure' }));
      const end = await store.move(...finished(call));
      assert.deepEqual([start?.seq, end?.seq], [2, 3]);
      assert.deepEqual(essence(await store.call(call.id)), {
        ...essence(call),
        effect: 'pure',
        state: 'succeeded',
        startedAt: AT + 1,
        finishedAt: AT + 2,
        durationMs: 1.5,
        outcome: { ok: true, text: 'hello', value: 'hello' },
      });
    },

    async 'steps of a call that are given without waiting are kept in that order, however large they are'(store) {
      const call = requestedCall({ args: { content: 'x'.repeat(50_000) } });
      const small = { ...call, args: { path: 'a' } };
      const steps = [store.submit(call), store.move(...started(small)), store.move(...finished(small))] as const;
      const [submitted, start, end] = await Promise.all(steps);
      assert.deepEqual([submitted.event?.seq, start?.seq, end?.seq], [1, 2, 3]);
      assert.equal((await store.call(call.id))?.state, 'succeeded');
    },

    async 'a key that is repeated while its call ends gives the call with its outcome'(store) {
      const call = requestedCall({ key: 'k1' });
      const steps = [store.submit(call), store.move(...started(call)), store.move(...finished(call))] as const;
      const [, , , again] = await Promise.all([...steps, store.submit(requestedCall({ key: 'k1' }))]);
      assert.deepEqual([again.call.id, again.event], [call.id, null]);
      const known = await store.submit(requestedCall({ key: 'k1' }));
      assert.deepEqual(known.call.outcome, { ok: true, text: 'hello', value: 'hello' });
      if (again.call.state === 'succeeded') assert.deepEqual(again.call.outcome, known.call.outcome);
    },

    async 'a move from another state changes nothing'(store) {
      const call = requestedCall();
      await store.submit(call);
      await store.move(...finished(call));
      assert.equal(await store.move(...started(call)), null);
      assert.equal(await store.move(...finished(call, { state: 'failed' })), null);
      assert.equal((await store.call(call.id))?.state, 'succeeded');
      assert.equal((await store.events('s1')).length, 2);
    },

    async 'a move of an unknown call is refused'(store) {
      assert.equal(await store.move(...started(requestedCall())), null);
      assert.deepEqual(await store.events('s1'), []);
    },

    async 'only one of many finishes of a call is recorded'(store) {
      const call = requestedCall();
      await store.submit(call);
      const ends = await Promise.all(Array.from({ length: 20 }, () => store.move(...finished(call))));
      assert.equal(ends.filter((event) => event !== null).length, 1);
      assert.equal((await store.events('s1')).length, 2);
    },

    async 'seq has no gaps in a session, and pos grows over all'(store) {
      const sessions = ['a', 'b', 'c'];
      await Promise.all(
        Array.from({ length: 30 }, async (_, index) => {
          const call = requestedCall({ session: sessions[index % 3] ?? 'a' });
          await store.submit(call);
          await store.move(...started(call));
          await store.move(...finished(call));
        }),
      );
      const all = [];
      for (const session of sessions) {
        const events = await store.events(session);
        assert.deepEqual(
          events.map(({ seq }) => seq),
          Array.from({ length: 30 }, (_, index) => index + 1),
        );
        const positions = events.map(({ pos }) => pos);
        assert.deepEqual(
          positions,
          [...positions].sort((a, b) => a - b),
        );
        all.push(...positions);
      }
      assert.equal(new Set(all).size, 90);
    },

    async 'a session keeps what was said in it beside its calls'(store) {
      const call = requestedCall();
      await store.submit(call);
      const data = { messageId: 'm1', role: 'user', text: 'hello ü' } as const;
      const added = { type: 'message.added', callId: null, at: AT, data } as const;
      const [stored] = await store.append('s1', [added]);
      assert.deepEqual([stored?.seq, stored?.callId], [2, null]);
      assert.deepEqual((await store.events('s1', 1))[0]?.data, data);
    },

    async 'events come back as they were recorded, after a seq and up to a limit'(store) {
      const call = requestedCall();
      await store.submit(call);
      const start = await store.move(...started(call));
      await store.move(...finished(call));
      assert.deepEqual(await store.events('s1', 1, 1), [start]);
      assert.deepEqual(
        (await store.events('s1', 1)).map(({ type }) => type),
        ['call.started', 'call.finished'],
      );
      assert.deepEqual(await store.events('s1', 3), []);
      assert.deepEqual(await store.events('elsewhere'), []);
    },

    async 'appended events change no call'(store) {
      const call = requestedCall();
      await store.submit(call);
      const data = { approvalId: randomUUID(), approved: true, by: 'ann' };
      const [event] = await store.append('s1', [{ type: 'approval.decided', callId: call.id, at: AT, data }]);
      assert.deepEqual([event?.seq, event?.data], [2, data]);
      assert.equal((await store.call(call.id))?.state, 'requested');
      assert.deepEqual(await store.append('s1', []), []);
    },

    async 'calls are listed oldest first, by page and by filter'(store) {
      const ids: string[] = [];
      for (let index = 0; index < 7; index++) {
        const call = requestedCall({ tool: index % 2 === 0 ? 'even' : 'odd', session: index < 5 ? 's1' : 's2' });
        ids.push(call.id);
        await store.submit(call);
        if (index === 2) await store.move(...finished(call));
      }
      const one = await store.calls({ limit: 3 });
      const two = await store.calls({ limit: 3, after: one.next ?? '' });
      const three = await store.calls({ limit: 3, after: two.next ?? '' });
      assert.deepEqual(
        [one, two, three].flatMap(({ items }) => items.map(({ id }) => id)),
        ids,
      );
      assert.equal(three.next, null);
      assert.equal((await store.calls({ limit: 7 })).next, null);
      assert.deepEqual(await idsOf(store.calls({ session: 's2' })), ids.slice(5));
      assert.deepEqual(await idsOf(store.calls({ tool: 'odd' })), [ids[1], ids[3], ids[5]]);
      assert.deepEqual(await idsOf(store.calls({ states: ['succeeded', 'failed'] })), [ids[2]]);
      assert.deepEqual(await idsOf(store.calls({ states: [] })), []);
      assert.deepEqual(await idsOf(store.calls({ session: 's1', tool: 'even', states: ['requested'] })), [
        ids[0],
        ids[4],
      ]);
    },

    async 'a cursor that is none gives nothing, and an odd limit does no harm'(store) {
      for (let index = 0; index < 3; index++) await store.submit(requestedCall());
      for (const after of ['', 'nonsense', '-1', '1e99', ' 1']) {
        assert.deepEqual(await store.calls({ after }), { items: [], next: null });
      }
      assert.equal((await store.calls({ limit: 2.5 })).items.length, 2);
      assert.equal((await store.calls({ limit: Number.NaN })).items.length, 3);
      assert.equal((await store.calls({ limit: 0 })).items.length, 1);
    },

    async 'large arguments and outcomes come back whole'(store) {
      const big = 'ä'.repeat(40_000);
      const call = requestedCall({ args: { content: big } });
      await store.submit(call);
      await store.move(...finished(call, { outcome: { ok: true, text: big, value: { big } } }));
      const read = await store.call(call.id);
      assert.deepEqual(read?.args, { content: big });
      assert.deepEqual(read?.outcome, { ok: true, text: big, value: { big } });
      const [requested] = await store.events('s1');
      assert.deepEqual(requested?.data, { tool: 'read_file', args: { content: big }, effect: 'once', agent: null });
    },

    async 'odd text does no harm'(store) {
      const odd = `quote ' " zero \0 half \ud800 emoji 😀 ${'$1 ? :a @b'}`;
      const call = requestedCall({ tool: odd, session: odd, key: odd, agent: odd, args: { odd } });
      await store.submit(call);
      assert.equal((await store.submit({ ...call, id: randomUUID() })).event, null);
      assert.deepEqual((await store.call(call.id))?.args, { odd });
      assert.equal((await store.events(odd)).length, 1);
    },

    async 'names of any length and of any text are kept short, apart and findable'(store) {
      const odd = ['x'.repeat(10_000), `${'x'.repeat(10_000)}y`, 'a\0', 'a\ufffd', 'half \ud800', 'other half \udc00'];
      // Together, so that one name that cannot be stored would fail the others with it.
      const calls = odd.map((name) => requestedCall({ id: name, session: 's1', tool: name, agent: name, key: name }));
      const fine = requestedCall({ key: 'fine' });
      const submitted = await Promise.all([...calls, fine].map((call) => store.submit(call)));
      assert.ok(submitted.every(({ event }) => event !== null));
      for (const [index, name] of odd.entries()) {
        const again = await store.submit(requestedCall({ key: name }));
        assert.deepEqual([again.event, again.call.id], [null, submitted[index]?.call.id]);
        assert.equal((await store.calls({ tool: name })).items.length, 1);
        const kept = await store.call(name);
        for (const text of [kept?.id, kept?.tool, kept?.agent, kept?.key]) {
          assert.ok(text !== undefined && text !== null && text.length <= 256 && !text.includes('\0'));
        }
        // A store finds every id it returned.
        assert.equal((await store.call(kept?.id ?? ''))?.id, kept?.id);
      }
      const [first, second] = calls as [CallRecord, CallRecord];
      assert.notEqual(await store.move(...finished(first)), null);
      assert.equal((await store.call(second.id))?.state, 'requested');
      assert.equal((await store.move(...finished(fine)))?.callId, fine.id);
      const session = 'y\0'.repeat(5000);
      const elsewhere = await store.submit(requestedCall({ session }));
      assert.equal((await store.events(session)).length, 1);
      assert.deepEqual(await store.events(session), await store.events(elsewhere.call.session));
      assert.equal((await store.calls({ session })).items.length, 1);
    },

    async 'finished calls can be forgotten, unfinished ones stay'(store) {
      const done = requestedCall({ key: 'k1' });
      const running = requestedCall();
      await store.submit(done);
      await store.move(...finished(done));
      await store.submit(running);
      await store.clear();
      assert.equal(await store.call(done.id), null);
      assert.equal((await store.call(running.id))?.state, 'requested');
      assert.deepEqual(
        (await store.events('s1')).map(({ callId }) => callId),
        [running.id],
      );
      assert.equal((await store.move(...finished(running)))?.seq, 4);
      assert.notEqual((await store.submit(requestedCall({ key: 'k1' }))).event, null);
    },
  });
}

async function idsOf(page: ReturnType<Store['calls']>): Promise<string[]> {
  return (await page).items.map(({ id }) => id);
}

/** Drops fields that only a shared store adds. */
function essence(call: unknown): object {
  const { attempt, node, approvedBy, deniedBy, ...rest } = call as Partial<CallRecord>;
  return rest;
}
