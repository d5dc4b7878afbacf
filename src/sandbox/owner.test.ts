import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { isOwnerGone, OWNER_ID } from './owner.ts';

const [pid, start, namespace, boot] = OWNER_ID.split('-') as [string, string, string, string];

test('a process that runs is there, and a number that is used again is another process', () => {
  expect(isOwnerGone(OWNER_ID)).toBe(false);
  expect(isOwnerGone(`${pid}-${Number(start) + 1}-${namespace}-${boot}`)).toBe(true);
  expect(isOwnerGone(`4194303-${start}-${namespace}-${boot}`)).toBe(true);
});

test('where nobody knows when a process began, its number decides', () => {
  expect(isOwnerGone(`${pid}-0-${namespace}-${boot}`)).toBe(false);
  expect(isOwnerGone(`4194303-0-${namespace}-${boot}`)).toBe(true);
});

test('process 1 of another container is not taken for ours', () => {
  expect(isOwnerGone(`1-${start}-1-${boot}`)).toBe(false);
  expect(isOwnerGone(`4194303-${start}-1-${boot}`)).toBe(false);
});

test('whatever ran before the machine was started again is gone, and what another machine runs is not', () => {
  expect(isOwnerGone(`${pid}-${start}-${namespace}-0badb007${boot.slice(8)}`)).toBe(true);
  expect(isOwnerGone(`${pid}-${start}-${namespace}-0badb0070badb007`)).toBe(false);
});

test('what is no id belongs to nobody we know', () => {
  for (const id of ['', '1', '12-3', `${OWNER_ID}-x`, 'a-b-c-d']) expect(isOwnerGone(id)).toBe(false);
});

test('a child has its own time of birth', async () => {
  const child = spawn('sleep', ['5']);
  expect(isOwnerGone(`${child.pid}-${start}-${namespace}-${boot}`)).toBe(true);
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
});
