import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openCommands } from './open-commands.ts';

type Commands = Awaited<ReturnType<typeof openCommands>>;

const FILES = { 'a.txt': 'one\n', 'lines.txt': '1\n2\n' };
const COMMIT = "echo x >>a.txt && git -c user.name=a -c user.email=a@b.c commit -qam 'Fix login'";
const git = (ws: Commands, ...args: string[]) => execFileSync('git', ['-C', ws.root, ...args]).toString();

/** As a prompt of a shell does: git writes down the new times of a file whose content is as before. */
function lookWithGit(ws: Commands): void {
  const before = ws.text('.git/index');
  const path = ws.file('lines.txt');
  const text = readFileSync(path);
  rmSync(path);
  writeFileSync(path, text);
  utimesSync(path, 1000, 2000);
  git(ws, 'status');
  expect(ws.text('.git/index')).not.toBe(before);
}

describe('a git status on the host', () => {
  test('after a commit was kept does not stand in the way of its undo', async () => {
    await using ws = await openCommands({ files: FILES, repository: true, answers: [true] });
    const ran = await ws.call('bash', { command: COMMIT });
    lookWithGit(ws);
    expect(await ws.workspace.undo(ran.callId ?? '')).toMatchObject({ ok: true });
    expect([ws.text('a.txt'), git(ws, 'log', '--format=%s'), git(ws, 'status', '--short')]).toEqual([
      'one\n',
      'first\n',
      '',
    ]);
  });

  test('between the question and the yes does not stand in the way of the commit', async () => {
    await using ws = await openCommands({
      ...{ files: FILES, repository: true, answers: [true] },
      beforeAnswer: (opened) => lookWithGit(opened),
    });
    await ws.call('bash', { command: COMMIT });
    expect([git(ws, 'log', '--format=%s'), git(ws, 'status', '--short')]).toEqual(['Fix login\nfirst\n', '']);
  });

  test('in a repository that a command made does not stand in the way of the undo', async () => {
    await using ws = await openCommands({ files: FILES, answers: [true] });
    const command =
      'mkdir new && cd new && echo 1 >b.txt && git init -q && git add -A && git -c user.name=a -c user.email=a@b.c commit -qm new && touch -d @1000 b.txt';
    const ran = await ws.call('bash', { command });
    const before = ws.text('new/.git/index');
    git(ws, '-C', 'new', 'status');
    expect(ws.text('new/.git/index')).not.toBe(before);
    expect(await ws.workspace.undo(ran.callId ?? '')).toMatchObject({ ok: true });
    expect(existsSync(ws.file('new'))).toBe(false);
  });

  test('in a command is no change of it', async () => {
    await using ws = await openCommands({ files: FILES, repository: true });
    const ran = await ws.call('bash', { command: 'touch -d @1000 lines.txt && git status --short' });
    expect([ran.ok, ws.questions.length, git(ws, 'status', '--short')]).toEqual([true, 0, '']);
  });
});

test('content that was staged on the host after a commit was kept is not undone with it', async () => {
  await using ws = await openCommands({ files: FILES, repository: true, answers: [true] });
  const ran = await ws.call('bash', { command: COMMIT });
  writeFileSync(ws.file('lines.txt'), 'theirs\n');
  git(ws, 'add', 'lines.txt');
  expect(await ws.workspace.undo(ran.callId ?? '')).toMatchObject({ ok: false, error: { code: 'CONFLICT' } });
});
