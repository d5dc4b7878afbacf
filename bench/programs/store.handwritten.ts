import { hash } from 'node:crypto';
import type { CallRecord } from '../../src/kernel/call/call.ts';
import type { Database } from '../../src/storage/sqlite/driver.ts';

type Transition = { kind: 'submit' | 'start' | 'finish'; call: CallRecord };

/**
 * The statements of the store written and prepared by hand, without Kysely, generators or any check: the least cost of
 * the state machine on this driver. `each` gives every transition a transaction of its own, as most programs do;
 * otherwise all of one turn share one.
 */
export class HandwrittenStore {
  readonly #each: boolean;
  readonly #sql: ReturnType<typeof prepared>;
  #waiting: (Transition & { done(): void })[] = [];

  constructor(db: Database, { each }: { each: boolean }) {
    this.#each = each;
    this.#sql = prepared(db);
  }

  transition(kind: Transition['kind'], call: CallRecord): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ kind, call, done });
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  #flush(): void {
    const all = this.#waiting;
    this.#waiting = [];
    for (const group of this.#each ? all.map((one) => [one]) : [all]) {
      this.#commit(group);
      for (const { done } of group) done();
    }
  }

  #commit(group: readonly Transition[]): void {
    const sql = this.#sql;
    sql.begin.run();
    for (const { kind, call } of group) {
      if (group.length > 1) sql.savepoint.run();
      if (kind === 'submit') sql.known.all(call.id);
      if (kind === 'start') {
        const args = JSON.stringify(call.args);
        sql.start.all('running', 1, args, null, call.effect, call.requestedAt, 'n0', 1, call.id, -1, -1, 'n0', 1);
      }
      if (kind === 'finish') {
        const args = JSON.stringify(call.args);
        const outcome = JSON.stringify({ ok: true, text: 'hello', value: 'hello' });
        sql.finish.all('succeeded', 0, args, null, call.requestedAt, 1500, outcome, null, call.id, -1, -1, 'n0', 1);
      }
      if (group.length > 1) sql.release.run();
    }
    this.#append(group);
    sql.commit.run();
  }

  #append(group: readonly Transition[]): void {
    const sql = this.#sql;
    const heads = new Map<string, { seq: number; hash: string }>();
    const counts = new Map<string, number>();
    for (const { call } of group) counts.set(call.session, (counts.get(call.session) ?? 0) + 1);
    for (const [session, count] of counts) {
      const [head] = sql.takeSeq.all(session, 1, 1, count, '', 0, '') as { last_seq: number; last_hash: string }[];
      heads.set(session, { seq: (head?.last_seq ?? 0) - count, hash: head?.last_hash ?? '' });
    }
    const [{ pos: end }] = sql.takePos.all(group.length) as [{ pos: number }];
    let pos = end - group.length;
    const submitted: [CallRecord, number, number][] = [];
    for (const { kind, call } of group) {
      const head = heads.get(call.session) ?? { seq: 0, hash: '' };
      const seq = ++head.seq;
      const data = JSON.stringify({ tool: call.tool, args: call.args, summary: call.tool, access: [] });
      const row = [++pos, call.session, seq, `call.${kind}`, 1, call.id, call.requestedAt, data, null];
      head.hash = hash('sha256', JSON.stringify([head.hash, ...row]), 'hex');
      sql.insertEvent.run(...row, head.hash);
      if (kind === 'submit') submitted.push([call, pos, seq]);
    }
    for (const [call, at, seq] of submitted) {
      const { id, session, tool, effect, requestedAt } = call;
      const args = JSON.stringify(call.args);
      const rest = [null, null, null, null, requestedAt, null, null, null, 0, 'n0', 1];
      sql.insertCall.run(id, at, session, seq, null, tool, null, null, effect, 'requested', args, ...rest);
    }
    for (const [session, head] of heads) sql.setHead.run(head.hash, session);
  }
}

function prepared(db: Database) {
  const fence = `WHERE id = ? AND state IN ('requested', 'awaiting_approval', 'queued', 'running')
    AND (attempt = ? OR ? = -1) AND (state NOT IN ('requested', 'running') OR (node = ? AND node_epoch = ?)) RETURNING session, started_at`;
  const list = (count: number) => Array.from({ length: count }, () => '?').join();
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    savepoint: db.prepare('SAVEPOINT unit'),
    release: db.prepare('RELEASE SAVEPOINT unit'),
    known: db.prepare('SELECT * FROM calls WHERE id = ?'),
    takeSeq: db.prepare(`INSERT INTO sessions (id, created_at, updated_at, last_seq, last_hash, pruned_seq, pruned_hash)
      VALUES (${list(7)}) ON CONFLICT (id) DO UPDATE SET last_seq = sessions.last_seq + excluded.last_seq,
      updated_at = excluded.updated_at RETURNING last_seq, last_hash`),
    takePos: db.prepare('UPDATE log_head SET pos = pos + ? WHERE id = 1 RETURNING pos'),
    setHead: db.prepare('UPDATE sessions SET last_hash = ? WHERE id = ?'),
    insertEvent: db.prepare(`INSERT INTO events VALUES (${list(10)})`),
    insertCall: db.prepare(`INSERT INTO calls VALUES (${list(22)})`),
    start: db.prepare(`UPDATE calls SET state = ?, attempt = attempt + ?, args = ?, args_blob = ?, effect = ?,
      started_at = ?, node = ?, node_epoch = ? ${fence}`),
    finish: db.prepare(`UPDATE calls SET state = ?, attempt = attempt + ?, args = ?, args_blob = ?, finished_at = ?,
      duration_us = ?, outcome = ?, outcome_blob = ? ${fence}`),
  };
}
