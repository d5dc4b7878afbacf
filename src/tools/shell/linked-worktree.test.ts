import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { commandWorkspace } from '../../testing/command-workspace.ts';
import type { TempWorkspace } from '../../testing/temp-workspace.ts';

const path = process.env['PATH'] ?? '/usr/bin:/bin';
const WHO = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
const opened: TempWorkspace[] = [];

/** A workspace that is a worktree of a repository beside it. */
async function worktree(): Promise<{ ws: TempWorkspace; main: string }> {
  const ws = await commandWorkspace({ path, mode: 'auto' });
  opened.push(ws);
  const main = join(dirname(ws.root), 'main');
  const git = (...args: string[]) => execFileSync('git', ['-C', main, ...WHO, ...args], { stdio: 'ignore' });
  mkdirSync(main);
  git('init', '-q', '-b', 'main');
  writeFileSync(join(main, 'a.txt'), 'one\n');
  git('add', 'a.txt');
  git('commit', '-qm', 'the first one');
  rmSync(ws.root, { recursive: true });
  git('worktree', 'add', '-q', ws.root);
  return { ws, main };
}

describe('in a linked worktree', () => {
  let ws: TempWorkspace;
  let main: string;
  const run = async (command: string) => (await ws.call('bash', { command })).text;
  beforeEach(async () => ({ ws, main } = await worktree()));
  afterAll(async () => {
    for (const each of opened) await each[Symbol.asyncDispose]();
  });

  test('git reads status, log and diff', async () => {
    writeFileSync(ws.file('a.txt'), 'two\n');
    const text = await run('git status --short; git log --format=%s; git diff');
    expect(text).toMatch(/^ M a\.txt\nthe first one\n.*-one\n\+two\n/s);
  });

  test('git writes nothing, and the result says why and what to do', async () => {
    writeFileSync(ws.file('a.txt'), 'two\n');
    expect(await run('git add -A')).toMatch(
      /\[exit code 128.*\[The workspace is a linked worktree.*a clone of its own\.\]/s,
    );
  });

  test('a .git file that names a folder which does not name it back opens none', async () => {
    const other = join(dirname(ws.root), 'other.git', 'worktrees', 'x');
    mkdirSync(other, { recursive: true });
    for (const [name, text] of Object.entries({ gitdir: '/elsewhere/.git\n', kept: 'private\n' }))
      writeFileSync(join(other, name), text);
    writeFileSync(ws.file('.git'), `gitdir: ${other}\n`);
    const text = await run(`cat ${other}/kept; git status`);
    expect(text).not.toContain('private');
    expect(text).toContain('which is not shown here');
  });

  test('a .git that is a symlink to that of another worktree opens none', async () => {
    const other = join(dirname(ws.root), 'other');
    execFileSync('git', ['-C', main, 'worktree', 'add', '-q', other]);
    rmSync(ws.file('.git'));
    symlinkSync(join(other, '.git'), ws.file('.git'));
    expect(await run(`cat ${main}/.git/HEAD`)).toContain('No such file');
  });

  test('a configuration with a password is not shown', async () => {
    const url = 'https://ana:q7Tz9bLw2Kd3Xv8Rm@example.org/x.git';
    execFileSync('git', ['-C', main, 'remote', 'add', 'origin', url]);
    expect(await run(`cat ${main}/.git/config; git status`)).toMatch(/No such file.*which is not shown here/s);
  });
});
