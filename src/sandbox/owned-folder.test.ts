import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OWN_PROCESS_ID } from '../host/process-identity.ts';
import { createOwnedFolder } from './owned-folder.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'owned-folder-'));
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(root, { recursive: true, force: true });
});

const [pid, start, namespace, place = ''] = OWN_PROCESS_ID.split('-');
const DAY_S = 24 * 60 * 60;

/** As its owner made it, touched so many days ago. */
function folderOf(owner: string, daysAgo = 0): string {
  const path = join(root, `toolwright-sandbox-${owner}-AbCdEf`);
  mkdirSync(path);
  const at = Date.now() / 1000 - daysAgo * DAY_S;
  utimesSync(path, at, at);
  return path;
}

test.each([
  ['another machine', `4242-777-${namespace}-deadbeefdeadbeef`],
  ['another container', `1-777-1-${place}`],
  ['a version that did not name its machine', `4242-777-${namespace}-deadbeef`],
])('a folder of %s stays until nobody has touched it for a week', (_whose, owner) => {
  const other = folderOf(owner, 2);
  createOwnedFolder(root, 'none').remove();
  expect(existsSync(other)).toBe(true);
  utimesSync(other, 0, 0);
  createOwnedFolder(root, 'none').remove();
  expect(existsSync(other)).toBe(false);
});

test('whatever no process of a sandbox made stays, however old and however similar its name', () => {
  const gone = `${pid}-${Number(start) + 1}-${namespace}-${place}`;
  const names = [
    'stages',
    'toolwright.db',
    `toolwright-${gone}-AbCdEf`,
    `run-${gone}-AbCdEf`,
    'toolwright-sandbox-notes',
  ];
  for (const name of names) {
    mkdirSync(join(root, name));
    utimesSync(join(root, name), 0, 0);
  }
  createOwnedFolder(root, 'sandbox').remove();
  expect(readdirSync(root).sort()).toEqual(names.sort());
});

test('one of a process that runs stays however old it is, one of a process that is gone goes at once', () => {
  const [ours, gone] = [folderOf(OWN_PROCESS_ID, 90), folderOf(`${pid}-${Number(start) + 1}-${namespace}-${place}`)];
  createOwnedFolder(root, 'seatbelt').remove();
  expect([existsSync(ours), existsSync(gone)]).toEqual([true, false]);
});

test('its owner touches it, so that others see that it is used', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const own = createOwnedFolder(root, 'none');
  utimesSync(own.path, 0, 0);
  vi.advanceTimersByTime(DAY_S * 1000);
  expect(Date.now() - statSync(own.path).mtimeMs).toBeLessThan(DAY_S * 1000);
  own.remove();
  expect(vi.getTimerCount()).toBe(0);
});

test('a part that its owner may not open goes with the rest', () => {
  const owned = createOwnedFolder(root, 'sandbox');
  mkdirSync(join(owned.path, 'tmp/masked'), { recursive: true });
  chmodSync(join(owned.path, 'tmp/masked'), 0o000);
  owned.remove();
  expect(existsSync(owned.path)).toBe(false);
});
