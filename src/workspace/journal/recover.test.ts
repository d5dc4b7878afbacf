import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { openWorkspace } from '../open-workspace.ts';
import type { ChangeSet } from './change-set.ts';

test('what a killed process had moved to another file system and not yet removed is gone after the next start', async () => {
  await using ws = await tempWorkspace({ files: { 'd/x.txt': 'X' } });
  const temp = '.toolwright-00.tmp';
  mkdirSync(ws.file(`src/${temp}`), { recursive: true });
  writeFileSync(ws.file(`src/${temp}/x.txt`), 'X');
  const moved = { kind: 'move', from: 'src/d', to: 'd', temp, type: 'directory', inode: 1, copied: true } as const;
  const set: ChangeSet = {
    id: 'dead-1',
    callId: 'c',
    session: 's',
    root: ws.workspace.root,
    at: 1,
    owner: { pid: 999_999_999, started: '1' },
    changes: [{ ...moved, digest: null, replaced: null, undoable: true, made: [] }],
  };
  writeFileSync(join(ws.journal, 'logs/dead.open.jsonl'), `${JSON.stringify({ begun: set })}\n`);
  const again = await openWorkspace({ root: ws.root, journal: { folder: ws.journal } });
  expect(readdirSync(ws.file('src'))).toEqual([]);
  expect(await again.undo('c')).toMatchObject({ ok: true });
  again.close();
  expect(readdirSync(ws.root, { recursive: true }).sort()).toEqual(['src', 'src/d', 'src/d/x.txt']);
});
