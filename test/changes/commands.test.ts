import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, linkSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openCommands } from './open-commands.ts';

const FILES = { 'a.txt': 'one\ntwo\nthree\n', 'src/b.txt': 'b\n' };
type Value = { changed: { state: string; created: string[]; modified: string[]; deleted: string[] } | null };

describe('in mode ask', () => {
  test('a command that changes nothing is not asked about', async () => {
    await using ws = await openCommands({ files: FILES });
    const ran = await ws.call('bash', { command: 'cat a.txt | wc -l' });
    expect([ran.ok, (ran.value as Value).changed, ws.questions.length]).toEqual([true, null, 0]);
  });

  test('new files are kept without a question, and undone with the command', async () => {
    await using ws = await openCommands({ files: FILES });
    const ran = await ws.call('bash', { command: 'mkdir out && echo x >out/new.txt && echo y >top.txt' });
    expect(ran.value).toMatchObject({ changed: { state: 'kept', created: ['out/new.txt', 'top.txt'] } });
    expect([ws.text('out/new.txt'), ws.text('top.txt'), ws.questions.length]).toEqual(['x\n', 'y\n', 0]);
    expect(ran.text).toContain('[Files: created out/new.txt, top.txt. Kept.]');
    expect(await ws.workspace.undo(ran.callId ?? '')).toMatchObject({ ok: true });
    expect([existsSync(ws.file('out')), existsSync(ws.file('top.txt'))]).toEqual([false, false]);
  });

  test('a changed file is asked about with its diff, and stays as it was after a no', async () => {
    await using ws = await openCommands({ files: FILES });
    const ran = await ws.call('bash', { command: 'sed -i s/two/2/ a.txt; rm src/b.txt' });
    expect(ws.questions).toHaveLength(1);
    expect(ws.questions[0]?.shown.preview).toMatchObject([
      {
        kind: 'changes',
        items: [
          { path: 'src/b.txt', kind: 'deleted', class: 'ordinary' },
          { path: 'a.txt', kind: 'modified', added: 1, removed: 1, diff: expect.stringContaining('-two\n+2') },
        ],
      },
    ]);
    expect(ran.value).toMatchObject({ changed: { state: 'discarded' } });
    expect([ws.text('a.txt'), ws.text('src/b.txt')]).toEqual([FILES['a.txt'], 'b\n']);
  });

  test('a yes keeps it, and undo brings the old files back', async () => {
    await using ws = await openCommands({ files: FILES, answers: [true] });
    const ran = await ws.call('bash', { command: 'sed -i s/two/2/ a.txt; rm -r src; chmod +x a.txt' });
    expect(ran.value).toMatchObject({
      changed: { state: 'kept', modified: ['a.txt'], deleted: [{ path: 'src', entries: 1 }] },
    });
    expect([ws.text('a.txt'), existsSync(ws.file('src')), statSync(ws.file('a.txt')).mode & 0o111]).toEqual([
      'one\n2\nthree\n',
      false,
      0o111,
    ]);
    expect(await ws.workspace.undo(ran.callId ?? '')).toMatchObject({ ok: true });
    expect([ws.text('a.txt'), ws.text('src/b.txt'), statSync(ws.file('a.txt')).mode & 0o111]).toEqual([
      FILES['a.txt'],
      'b\n',
      0,
    ]);
  });

  test('a part can be kept: some paths, some hunks, another text', async () => {
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}\n`).join('');
    await using ws = await openCommands({
      files: { ...FILES, 'long.txt': lines },
      answers: [{ paths: ['long.txt', 'a.txt', 'new.txt'], hunks: { 'long.txt': [2] }, texts: { 'a.txt': 'mine\n' } }],
    });
    const command =
      "sed -i 's/line 3$/three/; s/line 30$/thirty/' long.txt; echo z >>a.txt; rm src/b.txt; echo n >new.txt";
    const ran = await ws.call('bash', { command });
    expect(ran.value).toMatchObject({ changed: { state: 'partly kept', created: ['new.txt'] } });
    expect(ran.text).toMatch(/Not kept: src\/b\.txt\. Kept with changes by a person: (long|a)\.txt, (long|a)\.txt\./);
    expect(ws.text('long.txt')).toBe(lines.replace('line 30\n', 'thirty\n'));
    expect([ws.text('a.txt'), ws.text('src/b.txt'), ws.text('new.txt')]).toEqual(['mine\n', 'b\n', 'n\n']);
  });

  test('code destroys nothing unasked', async () => {
    await using ws = await openCommands({ files: FILES });
    const code = "import shutil; shutil.rmtree('src'); open('a.txt', 'w').write('gone')";
    await ws.call('run_code', { language: 'python', code });
    expect([ws.text('a.txt'), ws.text('src/b.txt'), ws.questions.length]).toEqual([FILES['a.txt'], 'b\n', 1]);
  });

  test('a rule that allows the command also keeps its changes; rules about files hold for commands', async () => {
    const rules = { allow: ['bash(touch *)', 'bash(sed *)', 'write_file(docs/**)'], deny: ['write_file(src/**)'] };
    await using ws = await openCommands({ files: { ...FILES, 'docs/d.txt': 'd\n' }, rules });
    await ws.call('bash', { command: 'sed -i s/one/1/ a.txt' });
    await ws.call('bash', { command: 'echo more | tee -a docs/d.txt' });
    expect([ws.text('a.txt'), ws.text('docs/d.txt'), ws.questions.length]).toEqual(['1\ntwo\nthree\n', 'd\nmore\n', 0]);
    const denied = await ws.call('bash', { command: 'sed -i s/b/c/ src/b.txt' });
    expect(denied.value).toMatchObject({
      changed: { state: 'discarded', reason: expect.stringContaining('write_file') },
    });
    expect(ws.text('src/b.txt')).toBe('b\n');
  });

  test.each(['ask', 'auto', 'strict'] as const)(
    'a rule that names a command keeps what it does to text in no commit, but takes no folder and no repository: %s',
    async (mode) => {
      const files = { ...FILES, 'docs/d.txt': 'd\n' };
      const named = ['sed -i s/typed/formatted/ a.txt', 'rm src/b.txt', 'rm -rf docs', 'rm -rf .git'];
      const rules = { allow: named.map((command) => `bash(${command})`) };
      await using ws = await openCommands({ files, rules, mode, repository: true });
      for (const path of ['a.txt', 'src/b.txt', 'docs/d.txt']) writeFileSync(ws.file(path), 'typed by a person\n');
      await ws.call('bash', { command: 'sed -i s/typed/formatted/ a.txt' });
      await ws.call('bash', { command: 'rm src/b.txt' });
      expect([ws.text('a.txt'), existsSync(ws.file('src/b.txt'))]).toEqual(['formatted by a person\n', false]);
      expect(ws.questions).toHaveLength(0);
      for (const path of ['docs', '.git']) {
        const ran = await ws.call('bash', { command: `rm -rf ${path}` });
        expect(ran.value).toMatchObject({ changed: { state: 'discarded' } });
      }
      expect(ws.questions).toHaveLength(mode === 'strict' ? 0 : 2);
      expect([ws.text('docs/d.txt'), existsSync(ws.file('.git/HEAD'))]).toEqual(['typed by a person\n', true]);
    },
  );

  test('a commit is one line in words, and can be undone', async () => {
    await using ws = await openCommands({ files: FILES, repository: true, answers: [true] });
    const command = "echo x >>a.txt && git -c user.name=a -c user.email=a@b.c commit -qam 'Fix login'";
    const ran = await ws.call('bash', { command });
    expect(ws.questions[0]?.shown.preview).toMatchObject([{ repository: ['main: 1 commit, Fix login'] }]);
    const subject = () => execFileSync('git', ['-C', ws.root, 'log', '-1', '--format=%s']).toString().trim();
    expect([ran.ok, subject()]).toEqual([true, 'Fix login']);
    expect(await ws.workspace.undo(ran.callId ?? '')).toMatchObject({ ok: true });
    expect([subject(), ws.text('a.txt')]).toEqual(['first', FILES['a.txt']]);
  });

  test.each([
    ['git reset --hard', 'git reset -q --hard HEAD'],
    ['rm -rf .git', 'rm -rf .git'],
  ])('undo takes %s back: text in no commit, branches, the stash and the index', async (_what, command) => {
    await using ws = await openCommands({ files: FILES, repository: true, answers: [true] });
    const git = (...args: string[]) => execFileSync('git', ['-C', ws.root, ...args]).toString();
    writeFileSync(ws.file('a.txt'), 'stashed\n');
    git('-c', 'user.name=a', '-c', 'user.email=a@b.c', 'stash', '-q');
    writeFileSync(ws.file('a.txt'), 'typed\n');
    writeFileSync(ws.file('src/b.txt'), 'staged\n');
    git('add', 'src/b.txt');
    const seen = () => [git('status', '--porcelain'), git('log', '--all', '--format=%H %s'), git('diff', '--cached')];
    const before = seen();
    const ran = await ws.call('bash', { command });
    expect(ran.value).toMatchObject({ changed: { state: 'kept' } });
    expect([ws.text('a.txt') === 'typed\n', existsSync(ws.file('.git'))]).not.toEqual([true, true]);
    expect(await ws.workspace.undo(ran.callId ?? '')).toMatchObject({ ok: true });
    expect([seen(), ws.text('a.txt'), ws.text('src/b.txt')]).toEqual([before, 'typed\n', 'staged\n']);
    expect(git('fsck', '--no-dangling')).toBe('');
  });

  test('a hook is protected, a secret and a pipe are never kept', async () => {
    await using ws = await openCommands({ files: { ...FILES, '.env': 'A=1' }, repository: true, answers: [true] });
    const command = 'echo x >.git/hooks/pre-commit; f=.e; echo B=2 >$f"nv"; mkfifo pipe; echo y >ok.txt';
    const ran = await ws.call('bash', { command });
    expect(ws.questions[0]?.shown.preview).toMatchObject([
      {
        items: expect.arrayContaining([expect.objectContaining({ path: '.git/hooks/pre-commit', class: 'protected' })]),
      },
    ]);
    expect(ran.value).toMatchObject({ changed: { state: 'partly kept' } });
    expect([ws.text('.env'), existsSync(ws.file('pipe')), ws.text('ok.txt')]).toEqual(['A=1', false, 'y\n']);
  });

  test('a run that was stopped keeps only ignored files', async () => {
    await using ws = await openCommands({ files: { ...FILES, '.gitignore': 'cache/\n' }, repository: true });
    const command = 'mkdir cache; echo x >cache/x; echo y >new.txt; echo z >>a.txt; sleep 60';
    const ran = await ws.call('bash', { command, timeout: 2 });
    expect(ran.error?.code).toBe('TIMEOUT');
    expect([ws.text('cache/x'), existsSync(ws.file('new.txt')), ws.text('a.txt')]).toEqual([
      'x\n',
      false,
      FILES['a.txt'],
    ]);
    expect(ws.questions).toHaveLength(0);
  });

  test('a file that a person changed meanwhile is a conflict: theirs stays, and the changes are still pending', async () => {
    const edit = (ws: { file(path: string): string }) => writeFileSync(ws.file('a.txt'), 'theirs\n');
    await using ws = await openCommands({ files: FILES, answers: [true], beforeAnswer: edit });
    const ran = await ws.call('bash', { command: 'echo x >>a.txt; echo y >new.txt' });
    expect(ran.value).toMatchObject({ changed: { state: 'discarded', reason: expect.stringContaining('a.txt') } });
    expect([ws.text('a.txt'), existsSync(ws.file('new.txt'))]).toEqual(['theirs\n', false]);
    const [pending] = (await ws.world.stages?.({} as never).list({ workspace: ws.root })) ?? [];
    expect(pending?.changes.map(({ path }) => path)).toEqual(['a.txt', 'new.txt']);
  });
});

describe('in other modes', () => {
  test('plan runs the command and keeps nothing', async () => {
    await using ws = await openCommands({ files: FILES, mode: 'plan' });
    const ran = await ws.call('bash', { command: 'echo x >new.txt; rm a.txt; ls' });
    expect(ran.value).toMatchObject({ stdout: 'new.txt\nsrc\n', changed: { state: 'discarded' } });
    expect(ran.text).toContain(
      '[Files: would have deleted a.txt; created new.txt. Not kept: Mode plan keeps nothing.]',
    );
    expect([ws.text('a.txt'), existsSync(ws.file('new.txt')), ws.questions.length]).toEqual([FILES['a.txt'], false, 0]);
  });

  test('what was not kept is told with its diffs: in mode plan, and where a person or a rule refuses it', async () => {
    const command = 'sed -i s/two/2/ a.txt; rm -r src';
    for (const given of [{ mode: 'plan' as const }, {}, { rules: { deny: ['write_file(*.txt)'] } }]) {
      await using ws = await openCommands({ files: FILES, ...given });
      const ran = await ws.call('bash', { command });
      expect(ran.value).toMatchObject({
        changed: {
          ...{ state: 'discarded', counts: { modified: 1, deleted: 1 }, total: 0 },
          ...{ modified: ['a.txt'], deleted: [{ path: 'src', entries: 1 }] },
          notKept: [{ path: 'a.txt', text: expect.stringContaining('-two\n+2') }],
        },
      });
      expect(ran.text).toContain('[Files: would have deleted src/ (1 entry); modified a.txt. Not kept: ');
      expect(ws.text('a.txt')).toBe(FILES['a.txt']);
    }
  });

  test('auto does not ask about text that the session itself wrote', async () => {
    await using ws = await openCommands({ files: FILES, repository: true, mode: 'auto' });
    await ws.call('bash', { command: 'echo draft >a.txt' });
    await ws.call('write_file', { path: 'src/b.txt', content: 'draft' });
    await ws.call('bash', { command: 'git checkout -q -- .' });
    expect([ws.text('a.txt'), ws.text('src/b.txt'), ws.questions.length]).toEqual([FILES['a.txt'], 'b\n', 0]);
  });

  test('auto keeps ordinary changes, and asks about protected files and uncommitted text', async () => {
    await using ws = await openCommands({ files: FILES, repository: true, mode: 'auto' });
    await ws.call('bash', { command: 'echo x >>a.txt' });
    expect([ws.text('a.txt'), ws.questions.length]).toEqual([`${FILES['a.txt']}x\n`, 0]);
    writeFileSync(ws.file('a.txt'), 'typed by a person\n');
    for (const command of [
      'git checkout -q -- .',
      'rm -rf .git',
      'echo x >.git/hooks/post-merge',
      'ls -A | xargs rm -rf',
    ]) {
      await ws.call('bash', { command });
    }
    expect(ws.questions).toHaveLength(4);
    expect([ws.text('a.txt'), existsSync(ws.file('.git/HEAD'))]).toEqual(['typed by a person\n', true]);
  });
});

test('the workspace is the same while a command runs', async () => {
  await using ws = await openCommands({ files: FILES, repository: true });
  chmodSync(ws.root, 0o755);
  const running = ws.call('bash', {
    command: 'git init -q sub; echo evil >.git/hooks/pre-commit; echo x >seen; sleep 2; ls seen',
  });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect([
    existsSync(ws.file('sub')),
    existsSync(ws.file('.git/hooks/pre-commit')),
    existsSync(ws.file('seen')),
  ]).toEqual([false, false, false]);
  expect((await running).ok).toBe(true);
});

test('git that only looks changes nothing, whoever the files belong to outside', async () => {
  await using ws = await openCommands({ files: { 'a.txt': 'one\n', 'b.txt': 'b\n' }, repository: true });
  writeFileSync(ws.file('a.txt'), 'one\ntwo\n');
  const looked = await ws.call('bash', { command: 'git diff --stat && git status --short && git log --oneline' });
  expect(looked.text).toContain('1 insertion(+)');
  expect([looked.value, ws.questions]).toMatchObject([{ changed: null }, []]);
});

test('a secret under another name is not in the diff of what was not kept', async () => {
  await using ws = await openCommands({ files: { '.env': 'KEY=hush-1234\n', 'a.txt': 'a\n' } });
  linkSync(ws.file('.env'), ws.file('innocent.txt'));
  const ran = await ws.call('bash', { command: 'rm innocent.txt; echo b >a.txt' });
  expect(ws.questions).toHaveLength(1);
  expect(JSON.stringify([ran, ws.questions])).not.toContain('hush-1234');
  expect(JSON.stringify(ran.value)).toContain('innocent.txt');
});
