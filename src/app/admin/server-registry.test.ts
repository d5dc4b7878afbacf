import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ownPorts, registerServer } from './server-registry.ts';

const top = mkdtempSync(join(tmpdir(), 'server-notes-'));
afterAll(() => rmSync(top, { recursive: true, force: true }));

test('a server that stops leaves the notes of the others', () => {
  const folder = mkdtempSync(join(top, 'state-'));
  const ports = ownPorts(folder, 0);
  const first = registerServer(folder, 'http://127.0.0.1:4001');
  const second = registerServer(folder, 'https://127.0.0.1');
  expect([...ports()].sort()).toEqual([4001, 443]);
  first();
  expect(ports()).toEqual([443]);
  second();
  expect([ports(), readdirSync(folder)]).toEqual([[], []]);
});

test('the note of a process that was killed goes when the next server starts', () => {
  const folder = mkdtempSync(join(top, 'state-'));
  registerServer(folder, 'http://127.0.0.1:4001');
  const [name = ''] = readdirSync(folder);
  const { pid } = spawnSync('true');
  const note = JSON.parse(readFileSync(join(folder, name), 'utf8'));
  writeFileSync(join(folder, name), JSON.stringify({ ...note, pid }));
  registerServer(folder, 'http://127.0.0.1:4002');
  expect(ownPorts(folder, 0)()).toEqual([4002]);
});
