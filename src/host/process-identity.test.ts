import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { OWN_MARK, OWN_PROCESS_ID, stateOfProcess } from './process-identity.ts';

const [pid, start, namespace, boot] = OWN_PROCESS_ID.split('-') as [string, string, string, string];

test('a process that runs is there, and a pid that is used again is another process', () => {
  expect(stateOfProcess(OWN_PROCESS_ID)).toBe('runs');
  expect(stateOfProcess(`${pid}-${Number(start) + 1}-${namespace}-${boot}`)).toBe('gone');
  expect(stateOfProcess(`4194303-${start}-${namespace}-${boot}`)).toBe('gone');
});

test('where the start time is not known, the pid decides', () => {
  expect(stateOfProcess(`${pid}-0-${namespace}-${boot}`)).toBe('runs');
  expect(stateOfProcess(`4194303-0-${namespace}-${boot}`)).toBe('gone');
});

test('process 1 of another container is not taken for ours', () => {
  expect(stateOfProcess(`1-${start}-1-${boot}`)).toBe('unknown');
  expect(stateOfProcess(`4194303-${start}-1-${boot}`)).toBe('unknown');
});

test('a process from before the machine was started again is gone, a process of another machine is unknown', () => {
  expect(stateOfProcess(`${pid}-${start}-${namespace}-0badb007${boot.slice(8)}`)).toBe('gone');
  expect(stateOfProcess(`${pid}-${start}-${namespace}-0badb0070badb007`)).toBe('unknown');
});

test('text that is no process id is of an unknown process', () => {
  for (const id of ['', '1', '12-3', `${OWN_PROCESS_ID}-x`, 'a-b-c-d']) expect(stateOfProcess(id)).toBe('unknown');
});

test('a child has its own start time', async () => {
  const child = spawn('sleep', ['5']);
  expect(stateOfProcess(`${child.pid}-${start}-${namespace}-${boot}`)).toBe('gone');
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
});

test('a mark tells the same, also one of an older version that names no PID namespace', () => {
  const { space, ...older } = OWN_MARK;
  expect([OWN_MARK, older].map(stateOfProcess)).toEqual(['runs', 'runs']);
  expect(
    [
      { ...OWN_MARK, started: '1' },
      { ...older, pid: 4194303 },
    ].map(stateOfProcess),
  ).toEqual(['gone', 'gone']);
  const elsewhere = [`1.${space.split('.')[1]}`, `${namespace}.0badb007`].map((other) => ({
    ...OWN_MARK,
    space: other,
  }));
  expect(elsewhere.map(stateOfProcess)).toEqual(['unknown', 'unknown']);
});
