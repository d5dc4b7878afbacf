import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { OWN_PROCESS_ID } from '../../host/process-identity.ts';
import { holdPlaceholders, isPlaceholder, removeRecorded } from './placeholders.ts';

let [root, workspace] = ['', ''];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'placeholders-'));
  workspace = join(root, 'ws');
  for (const name of ['ws', 'one', 'two']) mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const blocked = () => join(workspace, '.toolwright');
const hold = (state = 'one') => holdPlaceholders(workspace, ['.toolwright'], join(root, state));
const [, start, namespace, boot] = OWN_PROCESS_ID.split('-');

test('runs share a placeholder, also with different state folders: the last one removes it', () => {
  const [first, second] = [hold('one'), hold('two')];
  expect([first.names, second.names]).toEqual([['.toolwright'], ['.toolwright']]);
  first.release();
  first.release();
  expect(isPlaceholder(blocked())).toBe(true);
  second.release();
  expect(existsSync(blocked())).toBe(false);
});

test('whoever tidies up after a killed process leaves it to those who still use it', () => {
  const dead = `4194303-${start}-${namespace}-${boot}-run-1`;
  const second = hold('two');
  mkdirSync(join(blocked(), dead));
  writeFileSync(join(root, 'one', 'placeholder-1'), JSON.stringify(blocked()));
  removeRecorded(join(root, 'one'));
  expect([isPlaceholder(blocked()), existsSync(join(blocked(), dead))]).toEqual([true, false]);
  mkdirSync(join(blocked(), dead));
  second.release();
  expect(existsSync(blocked())).toBe(false);
});

test('what a killed container left goes after a day, since nobody can tell whether it runs', () => {
  const held = hold();
  const other = join(blocked(), `1-1-1-${boot}-run-1`);
  mkdirSync(other);
  held.release();
  expect(isPlaceholder(blocked())).toBe(true);
  utimesSync(other, 0, 0);
  hold().release();
  expect(existsSync(blocked())).toBe(false);
});

test('git does not see it', () => {
  execFileSync('git', ['init', '-q', workspace]);
  const held = hold();
  expect(execFileSync('git', ['-C', workspace, 'status', '--porcelain'], { encoding: 'utf8' })).toBe('');
  held.release();
});

test.each(['with a file', 'empty', 'of the same mode and with a file'])(
  'what stands there already is neither used nor removed: %s',
  (kind) => {
    mkdirSync(blocked());
    if (kind !== 'empty') writeFileSync(join(blocked(), 'config.json'), '{}');
    if (kind.startsWith('of')) chmodSync(blocked(), 0o1700);
    const { names, release } = hold();
    release();
    expect([names, existsSync(blocked())]).toEqual([[], true]);
  },
);

test('what a person puts into it meanwhile stays', () => {
  const held = hold();
  writeFileSync(join(blocked(), 'config.json'), '{}');
  held.release();
  expect(existsSync(join(blocked(), 'config.json'))).toBe(true);
});

test('what could be created but not be blocked is told', () => {
  chmodSync(workspace, 0o1777);
  const blocked = ['.toolwright', 'x/y'];
  const held = holdPlaceholders(workspace, blocked, join(root, 'one'));
  expect([held.names, held.open]).toEqual([['.toolwright'], ['x/y']]);
  held.release();
});
