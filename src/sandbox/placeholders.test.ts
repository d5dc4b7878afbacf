import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OWNER_ID } from './owner.ts';
import { createPlaceholders, isPlaceholder, removeRecorded } from './placeholders.ts';

let [root, workspace] = ['', ''];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'placeholders-'));
  workspace = join(root, 'ws');
  for (const name of ['ws', 'state', 'state/toolwright-sandbox-one', 'state/toolwright-sandbox-two'])
    mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const blocked = () => join(workspace, '.toolwright');
const records = (name: string) => join(root, 'state', `toolwright-sandbox-${name}`);

test('runs of one process share a placeholder: the last one removes it', () => {
  const placeholders = createPlaceholders(['.toolwright']);
  const [first, second] = [1, 2].map(() => placeholders.acquire(workspace, records('one')));
  expect(first?.names).toEqual(['.toolwright']);
  first?.release();
  first?.release();
  expect(isPlaceholder(blocked())).toBe(true);
  second?.release();
  expect([existsSync(blocked()), readdirSync(records('one'))]).toEqual([false, []]);
});

test('two processes share it as well, whoever ends first', () => {
  const held = ['one', 'two'].map((name) => createPlaceholders(['.toolwright']).acquire(workspace, records(name)));
  held[0]?.release();
  expect(isPlaceholder(blocked())).toBe(true);
  held[1]?.release();
  expect(existsSync(blocked())).toBe(false);
  expect(readdirSync(join(root, 'state')).sort()).toEqual(['toolwright-sandbox-one', 'toolwright-sandbox-two']);
});

test('what a killed process left is removed, unless another one uses it', () => {
  createPlaceholders(['.toolwright']).acquire(workspace, records('one'));
  const second = createPlaceholders(['.toolwright']).acquire(workspace, records('two'));
  removeRecorded(records('one'));
  expect(isPlaceholder(blocked())).toBe(true);
  second.release();
  createPlaceholders(['.toolwright']).acquire(workspace, records('one'));
  removeRecorded(records('one'));
  expect(existsSync(blocked())).toBe(false);
});

test('a lock that a killed process left does not hold anybody up, and one that is held does not unblock the name', () => {
  const lock = () => readdirSync(join(root, 'state')).find((name) => name.endsWith('.lock'));
  const placeholders = createPlaceholders(['.toolwright']);
  placeholders.acquire(workspace, records('one')).release();
  expect(lock()).toBeUndefined();
  const [, start, namespace, boot] = OWNER_ID.split('-');
  const name = lockName(workspace);
  writeFileSync(join(root, 'state', name), `4194303-${start}-${namespace}-${boot}`);
  placeholders.acquire(workspace, records('one')).release();
  expect([lock(), existsSync(blocked())]).toEqual([undefined, false]);
  writeFileSync(join(root, 'state', name), OWNER_ID);
  expect(placeholders.acquire(workspace, records('one')).names).toEqual(['.toolwright']);
});

/** As it is called while it is held. */
function lockName(folder: string): string {
  const held = createPlaceholders(['.toolwright']).acquire(folder, records('two'));
  const [record = ''] = readdirSync(records('two'));
  held.release();
  return `.${record}.lock`;
}

test('what stands there already is neither used nor removed', () => {
  mkdirSync(blocked());
  writeFileSync(join(blocked(), 'config.json'), '{}');
  const { names, release } = createPlaceholders(['.toolwright']).acquire(workspace, records('one'));
  release();
  expect([names, existsSync(join(blocked(), 'config.json'))]).toEqual([[], true]);
});
