import { appendFileSync, chmodSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { armFailpoints } from '../../kernel/failpoint.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { tempStage, treeListing } from '../../testing/temp-stage.ts';
import { type TempWorkspace, tempWorkspace } from '../../testing/temp-workspace.ts';

async function applied() {
  const files = { 'a.txt': 'a', 'd/x': 'x', 'm.sh': 'm', swap: 'file', 'gone.txt': 'g', 'swapped/in': 'i' };
  const ws = await tempWorkspace({ files });
  const stage = tempStage(ws.workspace, join(ws.outside, 'stage'));
  const before = treeListing(ws.root);
  for (const path of ['a.txt', 'new.txt', 'dir/sub/in', 'made/deep/x', 'swap/in', 'swapped'])
    stage.put(path, `new ${path}`);
  stage.put('link', { target: 'a.txt' });
  const changes: Change[] = [
    ...(await Promise.all(['a.txt', 'new.txt', 'dir', 'made/deep/x', 'link'].map((path) => stage.take(path)))),
    { kind: 'mode', path: 'm.sh', mode: 0o755, expect: { version: null } },
    ...(await Promise.all(['swap', 'swapped', 'd', 'gone.txt'].map((path) => stage.remove(path)))),
    await stage.take('swap/in', { expect: 'absent' }),
    await stage.take('swapped', { expect: 'absent' }),
  ];
  expect(await stage.apply(changes)).toMatchObject({ ok: true });
  rmSync(stage.folder, { recursive: true });
  return { ws, stage, before, [Symbol.asyncDispose]: () => ws[Symbol.asyncDispose]() };
}

const later: readonly (readonly [what: string, path: string, how: (ws: TempWorkspace) => void])[] = [
  ['a changed file was edited', 'a.txt', (ws) => appendFileSync(ws.file('a.txt'), 'later')],
  ['a new file was edited', 'new.txt', (ws) => appendFileSync(ws.file('new.txt'), 'later')],
  ['a new file is gone', 'new.txt', (ws) => rmSync(ws.file('new.txt'))],
  ['a new folder got a file', 'dir', (ws) => writeFileSync(ws.file('dir/sub/later'), 'later')],
  ['a file in a new folder was edited', 'dir', (ws) => appendFileSync(ws.file('dir/sub/in'), 'later')],
  [
    'a new symlink was replaced',
    'link',
    (ws) => {
      rmSync(ws.file('link'));
      symlinkSync('m.sh', ws.file('link'));
    },
  ],
  ['permissions were changed', 'm.sh', (ws) => chmodSync(ws.file('m.sh'), 0o600)],
  ['a deleted file was made anew', 'gone.txt', (ws) => writeFileSync(ws.file('gone.txt'), 'later')],
  ['a file that became a folder changed', 'swap/in', (ws) => appendFileSync(ws.file('swap/in'), 'later')],
];

test.each(later)('when %s later, an undo names it and touches nothing', async (_what, path, how) => {
  await using given = await applied();
  how(given.ws);
  const now = treeListing(given.ws.root);
  expect(await given.ws.workspace.undo('command')).toMatchObject({
    ok: false,
    error: { code: 'CONFLICT', details: { path } },
  });
  expect(treeListing(given.ws.root)).toEqual(now);
});

test('a later file in a folder that was only made for a new one stays', async () => {
  await using given = await applied();
  writeFileSync(given.ws.file('made/later.txt'), 'later');
  expect(await given.ws.workspace.undo('command')).toMatchObject({ ok: true });
  expect(treeListing(given.ws.root)).toEqual({
    ...given.before,
    made: 'folder 755',
    'made/later.txt': 'file 644 later',
  });
});

test('an undo that stops after any of its steps is completed by the next one', async () => {
  await using first = await applied();
  let steps = 0;
  let disarm = armFailpoints((name) => {
    if (STEPS.has(name)) steps++;
  });
  expect(await first.ws.workspace.undo('command')).toMatchObject({ ok: true });
  disarm();
  expect(treeListing(first.ws.root)).toEqual(first.before);
  expect(steps).toBeGreaterThan(15);
  for (let stop = 1; stop <= steps; stop++) {
    await using given = await applied();
    let reached = 0;
    disarm = armFailpoints((name) => {
      if (STEPS.has(name) && ++reached === stop) throw new Error(`stopped at ${name}`);
    });
    await expect(given.ws.workspace.undo('command')).rejects.toThrow('stopped at');
    disarm();
    const again = await given.ws.workspace.undo('command');
    expect(again, `stopped at step ${stop}: ${JSON.stringify(again)}`).toMatchObject({ ok: true });
    expect(treeListing(given.ws.root), `stopped at step ${stop}`).toEqual(given.before);
  }
});

const STEPS = new Set(['workspace.reverted', 'workspace.given-back', 'workspace.mode-back']);
