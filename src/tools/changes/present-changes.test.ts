import { expect, test } from 'vitest';
import { ok } from '../../kernel/result.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';
import { presentChanges } from './present-changes.ts';

const FILE = { type: 'file', mode: 0o644, size: 20, version: 'v' } as const;

function change(path: string, of: Partial<ClassifiedChange> = {}): ClassifiedChange {
  return { path, kind: 'deleted', class: 'ordinary', before: FILE, after: null, ...of };
}

/** A stage whose files all have one text; counts what is read. */
function stageOf(changes: readonly ClassifiedChange[], text = 'some text\n') {
  const read: string[] = [];
  const stage = {
    ...{ title: 'x', repository: [], changes },
    read: async (path: string) => {
      read.push(path);
      return ok(new TextEncoder().encode(text));
    },
  } as unknown as Stage;
  return { stage, read };
}

async function present(changes: readonly ClassifiedChange[], text?: string) {
  const { stage, read } = stageOf(changes, text);
  const block = await presentChanges(stage, changes);
  if (block.kind !== 'changes') throw new Error('no changes');
  return { ...block, read };
}

test('no more files are read once there is no room for a diff, and each says so', async () => {
  const changes = Array.from({ length: 1_500 }, (_, at) => change(`f${at}.txt`));
  const { items, read } = await present(changes, `${'x'.repeat(99)}\n`.repeat(100));
  expect(read.length).toBeLessThan(40);
  expect(items).toHaveLength(1_500);
  expect(items.filter(({ diff }) => diff === undefined)).toHaveLength(items.filter((each) => each.truncated).length);
});

test('other work goes on while many files are read', async () => {
  let turns = 0;
  const counting = setInterval(() => turns++, 1);
  await present(
    Array.from({ length: 1_000 }, (_, at) => change(`f${at}.txt`)),
    `${'y\n'.repeat(5_000)}`,
  );
  clearInterval(counting);
  expect(turns).toBeGreaterThan(1);
});

test('of a secret nothing is read', async () => {
  const { items, read } = await present([change('.env', { class: 'sensitive' })]);
  expect([read, items]).toEqual([[], [expect.not.objectContaining({ diff: expect.anything() })]]);
});

test('of thousands of deletions each is told, by itself or by a folder that cannot be chosen', async () => {
  const hooks = [change('.git/hooks/pre-push', { class: 'protected' })];
  const gone = ['a', 'b'].flatMap((folder) => Array.from({ length: 3_000 }, (_, at) => change(`${folder}/${at}`)));
  const { items, total, truncated } = await present([...gone, ...hooks]);
  expect([total, truncated, items[0]?.path]).toEqual([6_001, true, '.git/hooks/pre-push']);
  const told = items.reduce((count, { inside = 1 }) => count + inside, 0);
  expect(told).toBe(6_001);
  expect(items.filter(({ inside }) => inside !== undefined)).toEqual([
    { path: 'a', kind: 'deleted', class: 'ordinary', inside: expect.any(Number) },
    { path: 'b', kind: 'deleted', class: 'ordinary', inside: expect.any(Number) },
  ]);
});
