import { describe, expect, test } from 'vitest';
import { type Access, conflicts, mayChange } from './access.ts';

const apply: Access = { kind: 'fs.apply', stage: 's', digest: 'd', paths: ['src/a.ts'], total: 1 };
const run = (writes: Extract<Access, { kind: 'process.run' }>['writes']): Access => ({
  kind: 'process.run',
  command: 'x',
  writes,
});

describe('keeping pending changes', () => {
  test('is a change of any file', () => {
    expect(mayChange(apply)).toBe(true);
    const others: Access[] = [
      apply,
      { kind: 'fs.read', path: 'docs/b.md' },
      { kind: 'fs.write', path: 'docs/b.md' },
      { kind: 'fs.delete', path: 'docs' },
      run('stage'),
      run('workspace'),
      { kind: 'unknown' },
    ];
    for (const other of others)
      expect([other.kind, conflicts([apply], [other]), conflicts([other], [apply])]).toEqual([other.kind, true, true]);
  });

  test('waits for no network, no command that cannot write, and no process in the background', () => {
    expect(conflicts([apply], [{ kind: 'net.search', query: 'x' }])).toBe(false);
    expect(conflicts([apply], [run('nothing')])).toBe(false);
    expect(conflicts([run('background')], [apply])).toBe(false);
    expect(conflicts([apply], [run('background')])).toBe(true);
  });
});

test('a staged command waits for changes before it, as a command in the workspace does', () => {
  expect(conflicts([{ kind: 'fs.write', path: 'a' }], [run('stage')])).toBe(true);
  expect(conflicts([run('stage')], [run('stage')])).toBe(true);
  expect(conflicts([run('stage')], [{ kind: 'fs.read', path: 'a' }])).toBe(false);
});
