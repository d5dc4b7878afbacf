import assert from 'node:assert/strict';
import type { CallMove, NewEvent } from '../../kernel/call/event.ts';
import type { Ledger } from '../../kernel/call/ledger.ts';
import { type ContractCheck, checksOf } from '../contract.ts';
import { AT, asked, decided, finished, requestedCall, started } from '../sample-calls.ts';

/** A store, and a way to change its tables past it. */
export interface TamperedLedger {
  readonly ledger: Ledger;
  tamper(sql: string): void | Promise<void>;
}

export type OpenTampered = () => Promise<{ subject: TamperedLedger; close(): void | Promise<void> }>;

const LONG = 'long '.repeat(10_000);

/** One change by hand of each column of a call that a person reads, and of each column of a question. */
const CHANGES: readonly (readonly [change: string, problem: string])[] = [
  ["calls SET tool = 'bash' WHERE id = 'ran'", 'is of bash in the table of calls, and of read_file in the log'],
  ["calls SET agent = 'other' WHERE id = 'ran'", 'has another agent'],
  ["calls SET effect = 'once' WHERE id = 'ran'", 'has another effect'],
  ["calls SET state = 'failed' WHERE id = 'ran'", 'is failed in the table of calls, and succeeded in the log'],
  ["calls SET state = 'queued' WHERE id = 'ran'", 'is queued in the table of calls, and succeeded in the log'],
  [
    "calls SET state = 'queued' WHERE id = 'waits'",
    'is queued in the table of calls, and awaiting_approval in the log',
  ],
  ['calls SET args = \'{"path":"b.txt"}\' WHERE id = \'ran\'', 'has other arguments'],
  ['calls SET args = \'{"path":"b.txt"}\' WHERE id = \'waits\'', 'has other arguments'],
  ['calls SET args = \'{"path":"b.txt"}\' WHERE id = \'refused\'', 'has other arguments'],
  ["calls SET args = 'not JSON' WHERE id = 'ran'", 'has other arguments'],
  ["calls SET args = '1', args_blob = NULL WHERE id = 'long'", 'has other arguments'],
  ['calls SET outcome = \'{"ok":true,"text":"bye"}\' WHERE id = \'ran\'', 'has another outcome'],
  ['calls SET outcome = \'{"ok":true,"text":"bye"}\' WHERE id = \'waits\'', 'has another outcome'],
  ["calls SET outcome_blob = args_blob, args_blob = args_blob WHERE id = 'long'", 'has another outcome'],
  ["calls SET artifact = 'x' WHERE id = 'ran'", 'has another artifact'],
  ["calls SET requested_at = 7 WHERE id = 'ran'", 'has another time'],
  ["calls SET started_at = 7 WHERE id = 'ran'", 'has another start'],
  ["calls SET finished_at = 7 WHERE id = 'ran'", 'has another time of its end'],
  ["calls SET duration_us = 7 WHERE id = 'ran'", 'has another duration'],
  ["calls SET attempt = 7 WHERE id = 'ran'", 'has another number of attempts'],
  ["calls SET id = 'x' WHERE id = 'long'", 'does not request it'],
  ["approvals SET decided_by = 'eve' WHERE id = 'q1'", 'question q1 differs'],
  ["approvals SET state = 'approved' WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET state = 'pending' WHERE id = 'q1'", 'question q1 differs'],
  ["approvals SET message = 'no' WHERE id = 'q1'", 'question q1 differs'],
  ["approvals SET reason = 'It reads.' WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET tool = 'bash' WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET asked = '{}' WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET decision = NULL WHERE id = 'q1'", 'question q1 differs'],
  ["approvals SET asked = NULL WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET digest = 'd2' WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET call_id = 'long' WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET requested_at = 7 WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET decided_at = 7 WHERE id = 'q1'", 'question q1 differs'],
  ["approvals SET expires_at = 7 WHERE id = 'q2'", 'question q2 differs'],
  ["approvals SET id = 'q9' WHERE id = 'q2'", 'question q9 is in the table of approvals, and no event asks it'],
];

/** Contract of a store with tables: what they tell is what the log tells, and a row changed by hand is found. */
export function verifyContract(open: OpenTampered): ContractCheck[] {
  const found = CHANGES.map(([change, problem]) => [
    `verify finds a change of a row by hand: ${change}`,
    async ({ ledger, tamper }: TamperedLedger) => {
      await liveThrough(ledger);
      assert.deepEqual((await ledger.verify()).problems, []);
      await tamper(`UPDATE ${change}`);
      const { problems } = await ledger.verify();
      assert.ok(
        problems.some((each) => each.includes(problem)),
        `${problem} is not said: ${problems.join('\n')}`,
      );
    },
  ]);
  return checksOf<TamperedLedger>(open, {
    ...Object.fromEntries(found),
    async 'verify finds rows that were removed by hand'({ ledger, tamper }) {
      await liveThrough(ledger);
      await tamper("DELETE FROM approvals WHERE id = 'q1'");
      await tamper("DELETE FROM calls WHERE id = 'ran'");
      assert.deepEqual((await ledger.verify()).problems, [
        'Session s1: call ran is in the log, and not in the table of calls.',
        'Session s1: question q1 is in the log, and not in the table of approvals.',
      ]);
    },
    async 'calls that the store ends itself verify'({ ledger }) {
      const overdue = requestedCall({ id: 'overdue' });
      await ledger.submit(overdue);
      await ledger.move(...asked(overdue, 'q3', { expiresAt: 1 }));
      await ledger.expire();
      const closed = requestedCall({ id: 'closed' });
      await ledger.submit(closed);
      await ledger.move(...asked(closed, 'q4'));
      await ledger.move(...finished(closed, { state: 'cancelled' }));
      assert.equal((await ledger.call('overdue'))?.state, 'expired');
      assert.equal((await ledger.approval('q4'))?.state, 'superseded');
      assert.deepEqual((await ledger.verify()).problems, []);
    },
  });
}

/** Calls that ran, wait, were refused, and have long arguments. */
async function liveThrough(ledger: Ledger): Promise<void> {
  const ran = requestedCall({ id: 'ran', agent: 'main' });
  await ledger.submit(ran);
  await ledger.move(...asked(ran, 'q1'));
  const yes = decided(ran, 'q1');
  await ledger.decide({ ...yes, data: { ...yes.data, args: ran.args, changed: [], digest: 'd1' } });
  await ledger.move(...withEffect(started({ ...ran, effect: 'pure' }, AT + 3)));
  await ledger.move(...finished(ran));
  const waits = requestedCall({ id: 'waits' });
  await ledger.submit(waits);
  const [waiting, wait, question] = asked(waits, 'q2');
  const shown = { summary: 'Read a.txt', preview: [] } as const;
  await ledger.move(waiting, wait, { ...question, data: { ...question.data, shown } } as unknown as NewEvent);
  const refused = requestedCall({ id: 'refused', args: { path: './a.txt' } });
  await ledger.submit(refused);
  const [id, move, event] = finished({ ...refused, args: { path: 'a.txt' } }, { state: 'failed' });
  await ledger.move(id, move, { ...event, data: { ...event.data, args: { path: 'a.txt' } } } as NewEvent);
  const long = requestedCall({ id: 'long', args: { content: LONG } });
  await ledger.submit(long);
  await ledger.move(...started(long));
}

function withEffect([id, move, event]: [string, CallMove, NewEvent]): [string, CallMove, NewEvent] {
  return [id, move, { ...event, data: { ...event.data, effect: 'pure' } } as NewEvent];
}
