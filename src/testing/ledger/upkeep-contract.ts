import assert from 'node:assert/strict';
import type { NewEvent, StoredEvent } from '../../kernel/call/event.ts';
import { type ContractCheck, checksOf } from '../contract.ts';
import { AT, asked, finished, requestedCall, started } from '../sample-calls.ts';
import type { OpenShared, SharedLedger } from './ledger-contract.ts';

/** Contract for the upkeep of a shared store: recovery after a process ended, pruning, export. */
export function upkeepContract(open: OpenShared): ContractCheck[] {
  return checksOf<SharedLedger>(open, {
    async 'the word of an earlier life of its process is not heard'({ ledger }) {
      const call = requestedCall();
      await ledger.submit(call);
      await ledger.move(...started(call));
      const [id, move, event] = finished(call);
      assert.equal(await ledger.move(id, { ...move, epoch: ledger.node.epoch - 1 }, event), null);
      assert.notEqual(await ledger.move(id, { ...move, epoch: ledger.node.epoch }, event), null);
    },

    async 'a call that a process is at work on is moved by that process only'({ ledger, another }) {
      const other = await another();
      const call = requestedCall();
      await ledger.submit(call);
      assert.equal(await other.move(...started(call)), null);
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
      // Wall-clock times are for people; the duration was lost with its process.
      const end = events[2] as StoredEvent & NewEvent<'call.finished'>;
      assert.deepEqual([end.data.durationMs, states[2]?.durationMs], [null, null]);
      assert.ok(Math.abs(end.at - Date.now()) < 60_000);
      assert.deepEqual(await ledger.recover(), []);
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'what somebody cancelled is not queued: it ends, as it never started or its outcome is not known'({
      ledger,
      another,
    }) {
      const gone = await another();
      const [never, running, other] = [requestedCall(), requestedCall({ effect: 'pure' }), requestedCall()];
      for (const call of [never, running, other]) await gone.submit(call);
      await gone.move(...started(running));
      for (const { id: callId } of [never, running]) {
        await ledger.append('s1', [{ type: 'call.cancel_requested', callId, at: AT, data: { by: 'ann' } }]);
      }
      await gone.close();

      await ledger.recover();
      const calls = await Promise.all([never, running, other].map(({ id }) => ledger.call(id)));
      assert.deepEqual(
        calls.map((call) => call?.state),
        ['cancelled', 'interrupted', 'queued'],
      );
      assert.match(calls[0]?.outcome?.text ?? '', /nothing ran/);
      assert.match(calls[1]?.outcome?.text ?? '', /It was cancelled/);
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'a call that waits to run again has not started, and its question ends with it'({ ledger, another }) {
      const gone = await another();
      const call = requestedCall({ effect: 'pure' });
      await gone.submit(call);
      await gone.move(...started(call));
      await gone.close();
      await ledger.recover();
      assert.equal((await ledger.call(call.id))?.startedAt, null);

      const data = { tool: call.tool, attempt: 1 };
      const taken: NewEvent = { type: 'call.resumed', callId: call.id, at: AT, data };
      assert.notEqual(await ledger.move(call.id, { from: ['queued'], to: 'requested' }, taken), null);
      await ledger.move(...asked(call, 'a1'));
      await ledger.move(...finished(call, { state: 'cancelled' }));
      assert.deepEqual(await ledger.approvals({ state: 'pending' }), []);
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'a call that ends its process three times is not queued again'({ ledger, another }) {
      const call = requestedCall({ effect: 'pure' });
      const [id, move, event] = started(call);
      for (let attempt = 1; attempt <= 3; attempt++) {
        const gone = await another();
        if (attempt === 1) await gone.submit(call);
        await gone.move(id, { ...move, from: ['requested', 'queued'] }, event);
        await gone.close();
        await ledger.recover();
        assert.equal((await ledger.call(id))?.attempt, attempt);
      }
      assert.equal((await ledger.call(id))?.state, 'interrupted');
    },

    async 'the log is exported as lines of JSON, payloads included'({ ledger }) {
      const call = requestedCall({ args: { content: 'x'.repeat(50_000) } });
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
      const old = requestedCall({ args: { content: 'x'.repeat(50_000) } });
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

    async 'pruning by size counts large payloads too'({ ledger }) {
      const large = (index: number) => ({ content: `${index} `.repeat(20_000) });
      for (let index = 0; index < 20; index++) {
        const call = requestedCall({ args: large(index), session: `s${index % 3}` });
        await ledger.submit(call);
        await ledger.move(...finished(call));
      }
      const { bytes: before } = await ledger.prune({ maxBytes: Number.MAX_SAFE_INTEGER });
      assert.ok(before > 20 * 40_000, String(before));
      const { bytes } = await ledger.prune({ maxBytes: before / 2 });
      assert.ok(bytes <= before / 2 && bytes > before / 10, `${bytes} of ${before}`);
      const { items } = await ledger.history({ newestFirst: true });
      assert.deepEqual(items[0]?.args, large(19));
      assert.ok(items.length >= 4 && items.length <= 12, String(items.length));
      assert.deepEqual((await ledger.verify()).problems, []);
    },

    async 'pruning by size passes an unfinished call at the front by'({ ledger }) {
      await ledger.submit(requestedCall({ session: 'stuck' }));
      for (let index = 0; index < 40; index++) {
        const appended = { type: 'approval.decided', callId: 'none', at: AT } as const;
        const data = { approvalId: 'none', approved: false, by: null, message: 'x'.repeat(2000) };
        await ledger.append('stuck', [{ ...appended, data }]);
      }
      const calls = Array.from({ length: 60 }, () => requestedCall({ args: { content: 'x'.repeat(4000) } }));
      for (const call of calls) {
        await ledger.submit(call);
        await ledger.move(...finished(call));
      }
      const { bytes: before } = await ledger.prune({ maxBytes: Number.MAX_SAFE_INTEGER });
      const { bytes } = await ledger.prune({ maxBytes: before * 0.9 });
      assert.ok(bytes <= before * 0.9, `${bytes} of ${before}`);
      assert.equal((await ledger.events('stuck')).length, 41);
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
