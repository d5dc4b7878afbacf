import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../../kernel/call/ledger.ts';
import type { BlobStore } from '../../kernel/ports.ts';
import { finished, requestedCall, started } from '../../testing/sample-calls.ts';
import { openDatabase } from '../sqlite/driver.ts';
import { openSqliteStore } from '../sqlite/open.ts';

let folder: string;
let store: Ledger;
let blobs: BlobStore;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'verify-'));
  const opened = await openSqliteStore(folder);
  if (!opened.ok) throw new Error(opened.error.message);
  ({ store, blobs } = opened.value);
  for (const session of ['a', 'b']) {
    for (let index = 0; index < 3; index++) {
      const call = requestedCall({
        session,
        args: { content: `${session}${index} `.repeat(index === 2 ? 12_000 : 1) },
      });
      await store.submit(call);
      await store.move(...started(call));
      await store.move(...finished(call));
    }
  }
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

async function tamper(sql: string): Promise<readonly string[]> {
  const db = openDatabase(join(folder, 'state.db'));
  db.exec(sql);
  db.close();
  return (await store.verify()).problems;
}

test('an untouched log verifies', async () => {
  expect(await store.verify()).toEqual({ sessions: 2, events: 18, problems: [] });
  expect(await store.verify('a')).toEqual({ sessions: 1, events: 9, problems: [] });
  expect((await store.verify('nobody')).problems).toEqual(['There is no session nobody.']);
});

test.each([
  ['a changed payload', "UPDATE events SET data = replace(data, 'a0', 'a1') WHERE session = 'a' AND seq = 1"],
  ['a changed outcome', "UPDATE events SET data = replace(data, 'hello', 'bye') WHERE session = 'a' AND seq = 3"],
  ['a changed type', "UPDATE events SET type = 'call.finished' WHERE session = 'a' AND seq = 2"],
  ['a changed time', "UPDATE events SET at = at + 1 WHERE session = 'a' AND seq = 9"],
  ['a changed hash', "UPDATE events SET hash = 'x' WHERE session = 'a' AND seq = 9"],
  ['a removed event', "DELETE FROM events WHERE session = 'a' AND seq = 4"],
  ['a removed first event', "DELETE FROM events WHERE session = 'a' AND seq = 1"],
  ['a removed last event', "DELETE FROM events WHERE session = 'a' AND seq = 9"],
  [
    'two events that changed places',
    `UPDATE events SET seq = 99 WHERE session = 'a' AND seq = 4;
     UPDATE events SET seq = 4 WHERE session = 'a' AND seq = 5;
     UPDATE events SET seq = 5 WHERE session = 'a' AND seq = 99`,
  ],
  [
    'an event that moved to another session',
    "UPDATE events SET session = 'b', seq = 10 WHERE session = 'a' AND seq = 9",
  ],
  [
    'an added event',
    "INSERT INTO events SELECT 999, session, 10, type, version, call_id, at, data, blob, hash FROM events WHERE session = 'a' AND seq = 9",
  ],
  [
    'a cut that hides its traces',
    "DELETE FROM events WHERE session = 'a' AND seq = 9; UPDATE sessions SET last_seq = 8 WHERE id = 'a'",
  ],
  ['a change hidden with its session', "UPDATE events SET data = '{}'; DELETE FROM sessions WHERE id = 'a'"],
])('%s is found', async (_what, sql) => {
  const problems = await tamper(sql);
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.join()).toContain('Session a');
});

test('a whole session that is gone is found', async () => {
  const problems = await tamper("DELETE FROM events WHERE session = 'a'; DELETE FROM sessions WHERE id = 'a'");
  expect(problems).toEqual(['The log has 9 events; 18 were recorded and not pruned.']);
});

test('a blob that changed or is gone is found, and reading goes on without it', async () => {
  const blobs = join(folder, 'blobs');
  const files = readdirSync(blobs, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const [flipped, removed] = files.map(({ parentPath, name }) => join(parentPath, name));
  const bytes = readFileSync(flipped ?? '');
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  writeFileSync(flipped ?? '', bytes);
  rmSync(removed ?? '');
  expect((await store.verify()).problems.join()).toMatch(/payload of event \d .* is missing or damaged/);
  expect((await store.calls({})).items.length).toBe(6);
  expect((await store.events('a')).length).toBe(9);
});

test('the session without a name is listed, verified and pruned like any other', async () => {
  const call = requestedCall({ session: '' });
  await store.submit(call);
  await store.move(...finished(call));
  expect((await store.sessions({})).items.map(({ id }) => id)).toEqual(['', 'a', 'b']);
  expect((await store.sessions({ limit: 1 })).next).toBe('');
  expect((await store.sessions({ after: '' })).items.map(({ id }) => id)).toEqual(['a', 'b']);
  expect(await store.verify()).toMatchObject({ sessions: 3, events: 20 });
  expect((await tamper("UPDATE events SET data = '{}' WHERE session = ''")).length).toBeGreaterThan(0);
  await store.prune({ before: Date.now() });
  expect(await store.events('')).toEqual([]);
});

test("a blob that only a call's row refers to is looked at too", async () => {
  const artifact = await blobs.put(Buffer.from('an artifact'));
  const call = requestedCall({ session: 'c' });
  await store.submit(call);
  await store.move(...finished(call, { outcome: { ok: true, text: 'done', artifact } }));
  expect((await store.verify('c')).problems).toEqual([]);
  rmSync(join(folder, 'blobs', artifact.slice(0, 2), artifact));
  const found = `Session c: the artifact of call ${call.id} (blob ${artifact}) is missing or damaged.`;
  expect((await store.verify('c')).problems).toEqual([found]);
});

test('writing and pruning while it walks are no problems', async () => {
  let stop = false;
  const writing = (async () => {
    while (!stop) {
      const call = requestedCall({ session: 'a' });
      await store.submit(call);
      await store.move(...finished(call));
      if (Math.random() < 0.1) await store.prune({ before: Date.now() });
    }
  })();
  for (let round = 0; round < 30; round++) expect((await store.verify()).problems).toEqual([]);
  stop = true;
  await writing;
});

test('the outcome of a call is kept once, in the event that tells its end', async () => {
  const db = openDatabase(join(folder, 'state.db'), { readOnly: true });
  expect(
    db.prepare('SELECT count(*) AS n FROM calls WHERE outcome IS NOT NULL OR outcome_blob IS NOT NULL').get(),
  ).toEqual({ n: 0 });
  db.close();
  const { items } = await store.calls({ session: 'a' });
  expect(items.map(({ outcome }) => outcome?.text)).toEqual(['hello', 'hello', 'hello']);
});

test.each([
  [
    'a rule put in by hand',
    "INSERT INTO rules (id, rule, verdict, saved_by, saved_at) VALUES ('r9', 'bash(*)', 'allow', 'ann', 5)",
    'Rule r9, allow bash(*), is in the table of rules, and no event saved it.',
  ],
  [
    'a changed rule',
    "UPDATE rules SET rule = 'bash(*)' WHERE id = 'r1'",
    'Rule r1, allow bash(*), is allow bash(ls) in the log, or differs in who, when or where.',
  ],
  [
    'a rule that is gone',
    "DELETE FROM rules WHERE id = 'r1'",
    'Rule r1, allow bash(ls), was saved, says the log, and is not in the table of rules.',
  ],
  [
    'a removed rule that is back',
    "INSERT INTO rules (id, rule, verdict, saved_at) VALUES ('r2', 'bash(cat)', 'allow', 5)",
    'Rule r2, allow bash(cat), was removed, says the log, and is in the table of rules.',
  ],
  [
    'a decision put in by hand',
    "INSERT INTO path_decisions (id, workspace, path, kind, decided_by, decided_at) VALUES ('d9', 'w', '.env', 'no-secret', 'ann', 5)",
    'Decision d9, no-secret for .env in w, is in the table of decisions, and no event saved it.',
  ],
  [
    'a changed decision',
    "UPDATE path_decisions SET kind = 'no-secret' WHERE id = 'd1'",
    'Decision d1, no-secret for .env in w, is commands for .env in w in the log, or differs in who, when or where.',
  ],
  [
    'a decision that is gone',
    "DELETE FROM path_decisions WHERE id = 'd1'",
    'Decision d1, commands for .env in w, was saved, says the log, and is not in the table of decisions.',
  ],
  [
    'a decision that was taken back and is there again',
    "INSERT INTO path_decisions (id, workspace, path, kind, decided_by, decided_at) VALUES ('d2', 'w', 'a', 'commands', 'ann', 5)",
    'Decision d2, commands for a in w, was removed, says the log, and is in the table of decisions.',
  ],
  [
    'a tool that is switched on by hand',
    "UPDATE tool_states SET enabled = 1 WHERE tool = 'bash'",
    'Tool bash is switched on, and no event says so.',
  ],
])('%s is found', async (_what, sql, problem) => {
  const event = { callId: null, at: 5 } as const;
  const saved = (ruleId: string, rule: string) =>
    ({ type: 'rule.saved', ...event, data: { ruleId, rule, verdict: 'allow', by: null } }) as const;
  await store.record(saved('r1', 'bash(ls)'));
  await store.record(saved('r2', 'bash(cat)'));
  await store.record({ type: 'rule.removed', ...event, data: { ruleId: 'r2', by: null } });
  const decided = (decisionId: string, path: string) => {
    const data = { decisionId, workspace: 'w', path, kind: 'commands', digest: null, by: 'ann' } as const;
    return { type: 'path.decided', ...event, data } as const;
  };
  await store.record(decided('d1', '.env'));
  await store.record(decided('d2', 'a'));
  await store.record({ type: 'path.taken_back', ...event, data: { decisionId: 'd2', by: 'ann' } });
  await store.record({ type: 'tool.switched', ...event, data: { tool: 'bash', enabled: false, by: null } });
  expect((await store.verify()).problems).toEqual([]);
  expect(await tamper(sql)).toEqual([problem]);
});
