import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ToolResult } from '../../src/kernel/tool/tool-result.ts';
import { openCommands } from './open-commands.ts';

type Commands = Awaited<ReturnType<typeof openCommands>>;

const FILES = { 'a.txt': 'one\n', 'b.txt': 'b\n', 'd/x.txt': 'x\n', signal: 'wait\n' };

/** Runs a command, and edits files of the host after it began and before it does anything. */
async function editMeanwhile(ws: Commands, command: string, edit: () => void): Promise<ToolResult> {
  const begun = new Promise<void>((resolve) => {
    ws.toolwright.executor.on((event) => {
      if (event.type === 'call.progressed' && event.data.output?.includes('begun')) resolve();
    });
  });
  const call = ws.call('bash', { command: `echo begun; until grep -q go signal; do sleep 0.05; done; ${command}` });
  await begun;
  edit();
  writeFileSync(ws.file('signal'), 'go\n');
  return call;
}

const LOSING = [
  ['changes the same file', 'echo ours >a.txt', 'a.txt'],
  ['deletes the file', 'rm a.txt', 'a.txt'],
  ['deletes the folder around a file', 'rm -r d', 'd'],
  ['makes the same new file', 'echo ours >new.txt', 'new.txt'],
  ['puts a folder in its place', 'rm a.txt; mkdir a.txt', 'a.txt'],
] as const;

function edit(ws: Commands): void {
  for (const path of ['a.txt', 'd/x.txt', 'new.txt']) writeFileSync(ws.file(path), 'theirs\n');
}

describe('an edit by a person while a command runs', () => {
  test.each(LOSING)(
    'is not lost in mode auto and by a rule when it %s: a person is asked',
    async (_what, command, path) => {
      const rules = { allow: ['apply_changes(**)', 'bash'] };
      await using ws = await openCommands({ files: FILES, repository: true, mode: 'auto', rules });
      await editMeanwhile(ws, command, () => edit(ws));
      expect(ws.questions.map(({ reason }) => reason)).toEqual([
        expect.stringContaining(`${path}: It changed in the workspace while the command ran`),
      ]);
      for (const each of ['a.txt', 'd/x.txt', 'new.txt']) expect(ws.text(each)).toBe('theirs\n');
    },
  );

  test('mode strict keeps nothing over it, and says why', async () => {
    await using ws = await openCommands({ files: FILES, mode: 'strict', rules: { allow: ['bash'] } });
    const { text } = await editMeanwhile(ws, 'echo ours >a.txt', () => edit(ws));
    expect([ws.text('a.txt'), ws.questions.length]).toEqual(['theirs\n', 0]);
    expect(text).toMatch(
      /would have modified a\.txt\. Not kept: [\s\S]*Changed in the workspace meanwhile: a\.txt\.\]/,
    );
  });

  test('a yes keeps the command, and the undo brings the edit back', async () => {
    await using ws = await openCommands({ files: FILES, mode: 'auto', answers: [true] });
    const { callId, text } = await editMeanwhile(ws, 'echo ours >a.txt', () => edit(ws));
    expect(ws.text('a.txt')).toBe('ours\n');
    expect(text).toContain('modified a.txt. Kept. Changed in the workspace meanwhile: a.txt.]');
    expect(await ws.workspace.undo(callId ?? '')).toMatchObject({ ok: true });
    expect(ws.text('a.txt')).toBe('theirs\n');
  });

  test('of another file is no question', async () => {
    await using ws = await openCommands({ files: FILES, mode: 'auto' });
    await editMeanwhile(ws, 'echo ours >b.txt', () => edit(ws));
    expect([ws.text('a.txt'), ws.text('b.txt'), ws.questions.length]).toEqual(['theirs\n', 'ours\n', 0]);
  });
});

describe('between question and answer', () => {
  const contentOf = async (ws: Commands): Promise<string> => {
    const [stage] = (await ws.world.stages?.({} as never).list({ workspace: ws.root })) ?? [];
    if (stage === undefined) throw new Error('nothing is pending');
    return stage.contentOf('.');
  };

  test('a symlink in place of a parent is a conflict: nothing is written where it leads', async () => {
    const swap = (ws: Commands) => {
      renameSync(ws.file('d'), ws.file('moved'));
      symlinkSync(ws.outside, ws.file('d'));
    };
    await using ws = await openCommands({ files: FILES, answers: [true], beforeAnswer: swap });
    const ran = await ws.call('bash', { command: 'echo ours >>d/x.txt; echo ours >d/new.txt; echo ours >>b.txt' });
    expect(ran.value).toMatchObject({ changed: { state: 'discarded', reason: expect.stringContaining('d/x.txt') } });
    expect([readdirSync(ws.outside), ws.text('b.txt'), ws.text('moved/x.txt')]).toEqual([[], 'b\n', 'x\n']);
  });

  test.each([
    ['a changed file', (content: string) => writeFileSync(join(content, 'a.txt'), 'evil\n'), 'a.txt'],
    ['a new folder', (content: string) => writeFileSync(join(content, 'new/evil.txt'), 'evil\n'), 'new'],
    [
      'a file that a symlink replaces',
      (content: string) => {
        renameSync(join(content, 'a.txt'), join(content, 'aside'));
        symlinkSync('/etc/passwd', join(content, 'a.txt'));
      },
      'a.txt',
    ],
  ])('other pending content than was shown is not kept: %s', async (_what, alter, path) => {
    const beforeAnswer = async (ws: Commands) => alter(await contentOf(ws));
    await using ws = await openCommands({ files: FILES, answers: [true], beforeAnswer });
    const ran = await ws.call('bash', { command: 'echo ours >>a.txt; mkdir new; echo ours >new/n.txt' });
    expect(ran.value).toMatchObject({ changed: { state: 'discarded', reason: expect.stringContaining(path) } });
    expect([ws.text('a.txt'), existsSync(ws.file('new'))]).toEqual(['one\n', false]);
  });

  test.each([
    ['some hunks of it', { hunks: { 'a.txt': [1] } }],
    ['another text in place of it', { texts: { 'a.txt': 'mine\n' } }],
  ])('other pending content than was shown is not kept with %s', async (_what, chosen) => {
    const beforeAnswer = async (ws: Commands) => writeFileSync(join(await contentOf(ws), 'a.txt'), 'evil\n');
    await using ws = await openCommands({ files: FILES, answers: [chosen], beforeAnswer });
    const ran = await ws.call('bash', { command: 'echo ours >>a.txt; echo ours >>b.txt' });
    expect(ran.value).toMatchObject({
      changed: { state: 'discarded', reason: expect.stringContaining('a.txt is not what was shown') },
    });
    expect([ws.text('a.txt'), ws.text('b.txt')]).toEqual(['one\n', 'b\n']);
  });

  test('of two commands that change one file, the one kept second is a conflict', async () => {
    const waiting: (() => void)[] = [];
    const beforeAnswer = () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        if (waiting.length === 2) for (const each of waiting) each();
      });
    await using ws = await openCommands({ files: FILES, answers: [true, true], beforeAnswer });
    const both = await Promise.all(
      ['1', '2'].map((which) => ws.call('bash', { command: `echo ${which} >a.txt; echo ${which} >b.txt` })),
    );
    const states = both.map(({ value }) => (value as { changed: { state: string } }).changed.state);
    expect(states.toSorted()).toEqual(['discarded', 'kept']);
    const won = String(states.indexOf('kept') + 1);
    expect([ws.text('a.txt'), ws.text('b.txt')]).toEqual([`${won}\n`, `${won}\n`]);
  });
});

test('after they were kept, an undo does not take a later edit with it', async () => {
  await using ws = await openCommands({ files: FILES, mode: 'auto' });
  const { callId } = await ws.call('bash', { command: 'echo ours >a.txt; mkdir n; echo n >n/f' });
  writeFileSync(ws.file('a.txt'), 'theirs\n');
  mkdirSync(ws.file('n/theirs'));
  expect(await ws.workspace.undo(callId ?? '')).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
  expect([ws.text('a.txt'), ws.text('n/f')]).toEqual(['theirs\n', 'n\n']);
});
