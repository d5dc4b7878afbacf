import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { armFailpoints } from '../kernel/failpoint.ts';
import { createFilePolicy } from '../kernel/world/file-policy.ts';
import type { Stage } from '../kernel/world/stage.ts';
import { trySandbox } from '../testing/try-sandbox.ts';
import { createStages } from './create-stages.ts';

const at = trySandbox({ path: '/usr/local/bin:/usr/bin:/bin' });
afterAll(() => at[Symbol.asyncDispose]());
const policy = createFilePolicy();
const open = () => createStages({ sandbox: at.sandbox, policy, home: at.home });
const OWNER = { workspace: at.workspace, session: 's', callId: 'c', title: 'x', allowedBy: null, wrote: () => false };

async function staged(script: string, isPartial = false): Promise<Stage | null> {
  const begun = await open().begin(OWNER);
  if (!begun.ok) throw new Error(begun.error.message);
  const ran = await at.sh(script, { mounts: 'staged', stage: begun.value.folder });
  if (ran.staged === null) throw new Error('nothing was staged');
  const finished = await begun.value.finish(ran.staged, { isPartial });
  if (!finished.ok) throw new Error(finished.error.message);
  return finished.value;
}

test('a stage is found after a restart, with its content and the same digest', async () => {
  at.write('a.txt', 'one\n');
  const stage = await staged('echo two >>a.txt; mkdir d; echo x >d/x');
  const again = await open().find(stage?.id ?? '', OWNER);
  if (!again.ok) throw new Error(again.error.message);
  const { value } = again;
  expect(value.changes.map(({ path, kind, class: of }) => [path, kind, of])).toEqual([
    ['a.txt', 'modified', 'ordinary'],
    ['d', 'created', 'new'],
    ['d/x', 'created', 'new'],
  ]);
  expect(value.digest).toBe(stage?.digest);
  const text = async (side: 'before' | 'after') => {
    const read = await value.read('a.txt', side, 1000);
    return read.ok && read.value !== null ? Buffer.from(read.value).toString() : read;
  };
  expect([await text('before'), await text('after')]).toEqual(['one\n', 'one\ntwo\n']);
  expect(await value.read('a.txt', 'after', 3)).toMatchObject({ ok: false, error: { code: 'TOO_LARGE' } });
  expect(await value.read('d/gone', 'after', 3)).toEqual({ ok: true, value: null });
  await value.discard();
  expect(await open().find(value.id, OWNER)).toMatchObject({ ok: false, error: { code: 'FILE_NOT_FOUND' } });
});

test('a stage that another process discarded is gone for one that has seen it', async () => {
  const stage = await staged('echo x >seen.txt');
  const [one, other] = [open(), open()];
  const id = stage?.id ?? '';
  expect(await one.find(id, OWNER)).toMatchObject({ ok: true });
  const same = await other.find(id, OWNER);
  if (!same.ok) throw new Error(same.error.message);
  await same.value.discard();
  expect(await one.find(id, OWNER)).toMatchObject({ ok: false, error: { code: 'FILE_NOT_FOUND' } });
});

test('a stage tells of changes of its paths that another process kept', async () => {
  const [first, second] = [await staged('echo 1 >both.txt'), await staged('echo 2 >both.txt')];
  const [one, other] = [open(), open()];
  const seen = await one.find(second?.id ?? '', OWNER);
  expect(seen).toMatchObject({ ok: true });
  expect(seen.ok && seen.value.overtakenBy).toBeUndefined();
  const kept = await other.find(first?.id ?? '', OWNER);
  if (!kept.ok) throw new Error(kept.error.message);
  await kept.value.kept(['both.txt']);
  const again = await one.find(second?.id ?? '', OWNER);
  expect(again).toMatchObject({ ok: true, value: { overtakenBy: { paths: ['both.txt'] } } });
  await second?.discard();
});

test('a stage belongs to its session and its workspace', async () => {
  const stage = await staged('echo x >own.txt');
  const id = stage?.id ?? '';
  for (const other of [{ session: 'other' }, { workspace: '/elsewhere' }]) {
    const found = await open().find(id, { ...OWNER, ...other });
    expect(found).toMatchObject({ ok: false, error: { code: 'PERMISSION_DENIED' } });
  }
  expect((await open().list({ session: 's' })).map((each) => each.id)).toContain(id);
  expect(await open().list({ session: 'other' })).toEqual([]);
  await stage?.discard();
});

test('a run without changes leaves no stage', async () => {
  expect(await staged('cat a.txt')).toBe(null);
});

test('a folder named instead of an id, or one whose file was altered, is no stage', async () => {
  const stage = await staged('echo x >altered.txt');
  const status = await at.sandbox.status();
  const folder = status.ok ? join(status.value.stages.folder ?? '', stage?.id ?? '') : '';
  const file = join(folder, 'stage.json');
  writeFileSync(file, readFileSync(file, 'utf8').replace('"class":"new"', '"class":"ignored"'));
  expect(await open().find(stage?.id ?? '', OWNER)).toMatchObject({ error: { code: 'FILE_NOT_FOUND' } });
  expect(await open().find('../..', OWNER)).toMatchObject({ error: { code: 'FILE_NOT_FOUND' } });
  await stage?.discard();
});

test('a stage whose process ended during the run is removed at the next start', async () => {
  const status = await at.sandbox.status();
  const folder = status.ok ? (status.value.stages.folder ?? '') : '';
  const left = join(folder, '00000000000000aa');
  mkdirSync(left);
  // A process of an earlier start of this machine.
  const { OWN_PROCESS_ID } = await import('../host/process-identity.ts');
  writeFileSync(join(left, 'owner'), OWN_PROCESS_ID.replace(/^\d+/, '999999'));
  await open().list({});
  expect(existsSync(left)).toBe(false);
});

test('what a kill left of a removed stage goes at the next start, in part or whole', async () => {
  const stage = await staged('echo x >left.txt; mkdir d; echo x >d/x');
  const status = await at.sandbox.status();
  const folder = status.ok ? (status.value.stages.folder ?? '') : '';
  const disarm = armFailpoints((name) => {
    if (name === 'stage.removing') throw new Error('killed');
  });
  await expect(stage?.discard()).rejects.toThrow('killed');
  disarm();
  const left = readdirSync(folder).filter((name) => name.startsWith(stage?.id ?? '-'));
  expect([left.length, left.includes(stage?.id ?? '')]).toEqual([1, false]);
  expect((await open().list({})).map(({ id }) => id)).not.toContain(stage?.id);
  expect(existsSync(join(folder, left[0] ?? ''))).toBe(false);
});

describe('with too many pending', () => {
  test('no further command runs until some are decided', async () => {
    const status = await at.sandbox.status();
    const folder = status.ok ? (status.value.stages.folder ?? '') : '';
    const before = readdirSync(folder).length;
    const extra = Array.from({ length: 50 - before }, (_, index) => join(folder, `full-${index}`));
    for (const path of extra) mkdirSync(path);
    expect(await open().begin(OWNER)).toMatchObject({ ok: false, error: { code: 'TOO_LARGE' } });
    const { rmSync } = await import('node:fs');
    for (const path of extra) rmSync(path, { recursive: true });
  });
});
