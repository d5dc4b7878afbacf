import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openCommands } from '../../src/app/open-commands.ts';
import type { ApprovalRequest } from '../../src/kernel/ports.ts';
import { createFilePolicy } from '../../src/kernel/world/file-policy.ts';
import type { SessionStage } from '../../src/kernel/world/stage.ts';
import { createPolicy } from '../../src/policy/create-policy.ts';
import type { Mode } from '../../src/policy/mode.ts';
import { createToolwright } from '../../src/runtime/create-toolwright.ts';
import { builtInTools } from '../../src/tools/index.ts';
import { openWorkspace } from '../../src/workspace/open-workspace.ts';
import { HOST_PATH } from './compare-with-plain.ts';

const FILES = { 'a.txt': 'one\n', 'src/b.txt': 'b\n', '.env': 'KEY=secret-value-1\n' };

interface Options {
  readonly mode?: Mode;
  readonly answers?: (boolean | Record<string, unknown>)[];
}

async function open({ mode = 'ask', answers = [] }: Options = {}) {
  const around = realpathSync(mkdtempSync(join(tmpdir(), 'toolwright-session-')));
  const [root, stateDir, home] = ['ws', 'state', 'home'].map((name) => join(around, name)) as [string, string, string];
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  mkdirSync(home);
  const files = createFilePolicy();
  const questions: ApprovalRequest[] = [];
  const start = async () => {
    const commands = await openCommands({ files, stateDir, path: HOST_PATH, home });
    const workspace = await openWorkspace({
      root,
      policy: files,
      sandbox: commands.sandbox,
      journal: { folder: join(around, 'journal') },
    });
    const { executor } = createToolwright({
      tools: builtInTools,
      world: commands.addTo(workspace),
      policy: createPolicy({ mode, rules: [], files, home, effects: 'staged' }),
      async approver(request) {
        questions.push(request);
        const answer = answers.shift() ?? false;
        return typeof answer === 'boolean'
          ? { approved: answer }
          : { approved: true, modifiedArgs: { ...request.args, ...answer } };
      },
    });
    return { commands, workspace, executor };
  };
  let parts = await start();
  const stop = async () => {
    parts.workspace.close();
    await parts.commands.close();
  };
  function keepEnded(stage: SessionStage) {
    const context = { workingDir: root, sessionId: stage.session };
    return parts.executor.keep({ stage: stage.id, call: stage.callId }, context);
  }
  return {
    ...{ root, questions, folders: [root, stateDir, home] },
    workspace: () => parts.workspace,
    sessions: () => parts.commands.sessions,
    executor: () => parts.executor,
    file: (path: string) => join(root, path),
    text: (path: string) => readFileSync(join(root, path), 'utf8'),
    call: (session: string, tool: string, args: Record<string, unknown>) =>
      parts.executor.execute(tool, { workingDir: root, sessionId: session }, args),
    bash: (session: string, command: string) =>
      parts.executor.execute('bash', { workingDir: root, sessionId: session }, { command }),
    async collect(session: string, onto: string | null = null): Promise<SessionStage> {
      const begun = await parts.commands.sessions.begin({ workspace: root, session, onto, callId: `begin-${session}` });
      if (!begun.ok) throw new Error(begun.error.message);
      return begun.value;
    },
    /** Ends what a session collects and keeps it. */
    async keep(stage: SessionStage) {
      const ended = await parts.commands.sessions.end(stage);
      return ended.ok ? keepEnded(stage) : ended;
    },
    keepEnded,
    find: ({ id, session }: SessionStage) => parts.commands.stages.find(id, { session, workspace: root }),
    pending: () => parts.commands.stages.list({ workspace: root }),
    async restart() {
      await stop();
      parts = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(around, { recursive: true, force: true });
    },
  };
}

describe('a session that collects its changes', () => {
  test('works over several calls and tools without a question, and the workspace stays as it was', async () => {
    await using ws = await open();
    await ws.collect('s');
    const ran = await ws.bash('s', 'echo two >>a.txt; mkdir new; echo n >new/n.txt; rm src/b.txt');
    expect(ran.value).toMatchObject({
      changed: { state: 'collected', modified: ['a.txt'], deleted: [{ path: 'src/b.txt' }] },
    });
    expect(ran.text).toContain('Collected');
    expect((await ws.call('s', 'read_file', { path: 'a.txt' })).text).toContain('two');
    expect((await ws.call('s', 'edit_file', { path: 'a.txt', edits: [{ old: 'two', new: 'drei' }] })).ok).toBe(true);
    expect((await ws.call('s', 'write_file', { path: 'src/c.txt', content: 'c\n' })).ok).toBe(true);
    expect((await ws.call('s', 'delete_file', { path: 'new', recursive: true })).ok).toBe(true);
    expect((await ws.call('s', 'grep', { pattern: 'drei' })).text).toContain('a.txt');
    const globbed = (await ws.call('s', 'glob', { pattern: '**/*.txt' })).value as { paths: string[] };
    expect(globbed.paths.toSorted()).toEqual(['a.txt', 'src/c.txt']);
    expect((await ws.bash('s', 'cat a.txt; ls src')).text).toContain('one\ndrei\nc.txt');
    expect(ws.questions).toEqual([]);
    expect([ws.text('a.txt'), ws.text('src/b.txt'), existsSync(ws.file('new'))]).toEqual(['one\n', 'b\n', false]);
  });

  test('others see the workspace', async () => {
    await using ws = await open();
    await ws.collect('s');
    await ws.bash('s', 'echo two >>a.txt');
    expect((await ws.call('other', 'read_file', { path: 'a.txt' })).text).not.toContain('two');
    expect((await ws.bash('other', 'cat a.txt')).text).not.toContain('two');
  });

  test('all of it is reviewed at any time, and asked about once when it is kept; undo takes all of it back', async () => {
    await using ws = await open({ answers: [true] });
    const stage = await ws.collect('s');
    await ws.bash('s', 'echo two >>a.txt');
    await ws.call('s', 'write_file', { path: 'new.txt', content: 'n\n' });
    const seen = await ws.sessions().review(stage);
    expect(seen).toMatchObject({
      value: {
        isCollecting: true,
        changes: [
          { path: 'a.txt', class: 'ordinary' },
          { path: 'new.txt', class: 'new' },
        ],
      },
    });
    const kept = await ws.keep(stage);
    expect(kept).toMatchObject({ ok: true, value: { state: 'kept', modified: ['a.txt'], created: ['new.txt'] } });
    expect(ws.questions.map(({ shown }) => shown.preview[0])).toMatchObject([
      { kind: 'changes', items: [{ path: 'a.txt', diff: expect.stringContaining('+two') }, { path: 'new.txt' }] },
    ]);
    expect([ws.text('a.txt'), ws.text('new.txt')]).toEqual(['one\ntwo\n', 'n\n']);
    expect(await ws.workspace().undo(stage.callId)).toMatchObject({ ok: true });
    expect([ws.text('a.txt'), existsSync(ws.file('new.txt'))]).toEqual(['one\n', false]);
  });

  test('a part is kept, and the rest discarded', async () => {
    await using ws = await open({ answers: [{ paths: ['new.txt'] }] });
    const stage = await ws.collect('s');
    await ws.bash('s', 'echo two >>a.txt; echo n >new.txt');
    expect(await ws.keep(stage)).toMatchObject({ value: { state: 'partly kept' } });
    expect([ws.text('a.txt'), ws.text('new.txt')]).toEqual(['one\n', 'n\n']);
  });

  test('a session that changed nothing leaves nothing', async () => {
    await using ws = await open();
    const stage = await ws.collect('s');
    await ws.bash('s', 'cat a.txt');
    expect(await ws.sessions().review(stage)).toEqual({ ok: true, value: null });
    expect(await ws.sessions().end(stage)).toEqual({ ok: true, value: false });
    expect(existsSync(stage.folder.folder)).toBe(false);
  });

  test('what is refused is refused: secrets, rules about words and the network', async () => {
    await using ws = await open();
    await ws.collect('s');
    expect((await ws.call('s', 'read_file', { path: '.env' })).error?.code).toBe('PERMISSION_DENIED');
    expect((await ws.call('s', 'write_file', { path: '.env', content: 'x' })).error?.code).toBe('PERMISSION_DENIED');
    expect((await ws.bash('s', 'cat .env; cp .env e.txt; cat e.txt')).text).not.toContain('secret-value-1');
    const wrote = await ws.bash('s', 'f=local; echo K=1 >".env.$f"');
    expect(wrote.value).toMatchObject({ changed: { state: 'discarded' } });
    expect((await ws.bash('s', 'rm -rf /')).error?.code).toBe('PERMISSION_DENIED');
    await ws.bash('s', 'git push origin main');
    expect(ws.questions).toHaveLength(1);
  });

  test('another name that the host gives to a secret is refused at once', async () => {
    await using ws = await open();
    await ws.collect('s');
    await ws.call('s', 'read_file', { path: 'a.txt' });
    linkSync(ws.file('.env'), ws.file('post.txt'));
    const read = await ws.call('s', 'read_file', { path: 'post.txt' });
    expect([read.ok, read.text.includes('secret-value-1')]).toEqual([false, false]);
  });

  test('folders of the workspace are moved and deleted, by tools and by commands', async () => {
    await using ws = await open({ answers: [true] });
    const stage = await ws.collect('s');
    for (const name of ['x', 'y', 'z']) {
      mkdirSync(ws.file(`${name}/in`), { recursive: true });
      writeFileSync(ws.file(`${name}/in/f.txt`), name);
    }
    expect((await ws.call('s', 'move_file', { from: 'src', to: 'lib' })).text).toContain('lib');
    expect((await ws.call('s', 'delete_file', { path: 'x', recursive: true })).ok).toBe(true);
    const ran = await ws.bash('s', 'rm -r y; mv z z2; find . -name "*.txt" | sort');
    expect(ran.value).toMatchObject({
      changed: { state: 'collected' },
      stdout: './a.txt\n./lib/b.txt\n./z2/in/f.txt\n',
    });
    expect(await ws.keep(stage)).toMatchObject({ ok: true, value: { state: 'kept' } });
    const there = ['src', 'lib/b.txt', 'x', 'y', 'z', 'z2/in/f.txt'].map((path) => existsSync(ws.file(path)));
    expect(there).toEqual([false, true, false, false, false, true]);
  });

  test('a call that was planned before it began changes nothing unasked', async () => {
    await using ws = await open({ mode: 'auto' });
    mkdirSync(ws.file('.vscode'));
    writeFileSync(ws.file('.vscode/tasks.json'), 'one\n');
    await ws.bash('other', 'true');
    const edits = [{ old: 'one', new: 'two' }];
    const edited = ws.call('s', 'edit_file', { path: '.vscode/tasks.json', edits });
    await ws.collect('s');
    await edited;
    expect(ws.text('.vscode/tasks.json')).toBe('one\n');
  });

  test('it collects without a gap while its changes are decided about, also twice at once', async () => {
    await using ws = await open();
    const stage = await ws.collect('s');
    await ws.bash('s', 'echo two >>a.txt');
    const writes = Array.from({ length: 20 }, (_, at) =>
      ws.call('s', 'write_file', { path: `w${at}.txt`, content: 'w' }),
    );
    const renewed = await Promise.all(['r1', 'r2'].map((callId) => ws.sessions().renew(stage, callId)));
    await Promise.all(writes);
    expect(renewed.map(({ ok }) => ok)).toEqual([true, false]);
    expect(ws.sessions().list(ws.root)).toHaveLength(1);
    await ws.call('s', 'write_file', { path: 'late.txt', content: 'w' });
    expect(readdirSync(ws.root).toSorted()).toEqual(['.env', 'a.txt', 'src']);
  });

  test('an edit of the host while a command runs is not overwritten unasked', async () => {
    await using ws = await open({ mode: 'auto', answers: [false] });
    await ws.collect('s');
    const begun = new Promise<void>((resolve) => {
      ws.executor().on(({ type, data }) => {
        if (type === 'call.progressed' && data.output?.includes('begun')) resolve();
      });
    });
    const running = ws.bash('s', 'echo mine >>a.txt; echo begun; until grep -q go src/b.txt; do sleep 0.05; done');
    await begun;
    writeFileSync(ws.file('a.txt'), 'of the host\n');
    writeFileSync(ws.file('src/b.txt'), 'go\n');
    await running;
    expect(ws.questions[0]?.reason).toContain('changed in the workspace');
    expect(ws.text('a.txt')).toBe('of the host\n');
  });

  test('no process in the background begins in it', async () => {
    await using ws = await open({ mode: 'auto' });
    await ws.collect('s');
    const started = await ws.call('s', 'bash', { command: 'sleep 60', background: true });
    expect(started.error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('foreground') });
  });

  test('a crash after its changes were listed leaves them pending, and nothing else goes into them', async () => {
    await using ws = await open();
    const stage = await ws.collect('s');
    await ws.bash('s', 'echo n >n.txt');
    const note = join(ws.folders[1] ?? '', 'sessions', `${stage.id}.json`);
    const text = readFileSync(note, 'utf8');
    expect(await ws.sessions().end(stage)).toEqual({ ok: true, value: true });
    writeFileSync(note, text);
    await ws.restart();
    expect(ws.sessions().of(ws.root, 's')).toBeUndefined();
    expect((await ws.pending()).map(({ id }) => id)).toEqual([stage.id]);
  });

  test('files that the host obeys are collected unasked, and asked about when they are kept', async () => {
    await using ws = await open({ mode: 'auto', answers: [false] });
    execFileSync('git', ['init', '-q', ws.root]);
    const stage = await ws.collect('s');
    const path = '.git/hooks/pre-commit';
    expect((await ws.call('s', 'write_file', { path, content: '#!/bin/sh\n' })).ok).toBe(true);
    expect(ws.questions).toEqual([]);
    const kept = await ws.keep(stage);
    expect([kept.ok, ws.questions.length, existsSync(ws.file(path))]).toEqual([false, 1, false]);
  });

  test('commits of it are told while it goes on', async () => {
    await using ws = await open();
    execFileSync('git', ['init', '-q', '-b', 'main', ws.root]);
    const author = ['-c', 'user.name=a', '-c', 'user.email=a@b.c'];
    execFileSync('git', ['-C', ws.root, ...author, 'commit', '-q', '--allow-empty', '-m', 'none']);
    const stage = await ws.collect('s');
    await ws.bash('s', 'git add a.txt && git -c user.name=a -c user.email=a@b.c commit -qm "First words"');
    const seen = await ws.sessions().review(stage);
    expect(seen.ok && seen.value?.repository.join()).toContain('First words');
  });

  test('it goes on after a restart', async () => {
    await using ws = await open({ answers: [true] });
    await ws.collect('s');
    await ws.bash('s', 'echo two >>a.txt');
    await ws.restart();
    expect((await ws.call('s', 'read_file', { path: 'a.txt' })).text).toContain('two');
    const stage = ws.sessions().of(ws.root, 's');
    expect(await ws.keep(stage as SessionStage)).toMatchObject({ value: { state: 'kept' } });
    expect(ws.text('a.txt')).toBe('one\ntwo\n');
  });

  test('an edit of the host is seen, and one that comes later is not overwritten unasked', async () => {
    await using ws = await open({ mode: 'auto', answers: [false] });
    const stage = await ws.collect('s');
    await ws.bash('s', 'true');
    const replace = (path: string, text: string) => {
      writeFileSync(ws.file(`${path}.new`), text);
      renameSync(ws.file(`${path}.new`), ws.file(path));
    };
    replace('a.txt', 'of the host\n');
    expect((await ws.bash('s', 'cat a.txt; echo mine >>a.txt')).text).toContain('of the host');
    expect(await ws.sessions().review(stage)).toMatchObject({
      value: { changes: [expect.not.objectContaining({ overtaken: true })] },
    });
    replace('a.txt', 'later\n');
    const kept = await ws.keep(stage);
    expect([kept.ok, ws.questions[0]?.reason]).toEqual([false, expect.stringContaining('changed in the workspace')]);
    expect(ws.text('a.txt')).toBe('later\n');
  });
});

test('a folder that the host deletes later is new with all that the session has in it, and nothing else', async () => {
  await using ws = await open();
  const stage = await ws.collect('s');
  await ws.bash('s', 'rm src/b.txt; echo x >src/new.txt');
  rmSync(ws.file('src'), { recursive: true });
  const seen = await ws.sessions().review(stage);
  expect(seen).toMatchObject({ value: { changes: [{ path: 'src' }, { path: 'src/new.txt' }] } });
  expect(seen.ok && seen.value?.changes).toHaveLength(2);
});

describe('the changes of a session in two processes', () => {
  test('belong to one at a time; when that one is killed, the other goes on without a loss', async () => {
    await using ws = await open({ answers: [true] });
    const child = fork(join(import.meta.dirname, 'session-program.ts'), ws.folders, { execArgv: ['--import', 'tsx'] });
    const [said] = await once(child, 'message');
    expect(said).toEqual({ begun: true, wrote: true });
    const refused = await ws.bash('s', 'cat other.txt');
    expect(refused.error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('Another process') });
    const stage = ws.sessions().of(ws.root, 's') as SessionStage;
    expect(await ws.keep(stage)).toMatchObject({ error: { code: 'CONFLICT' } });
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect((await ws.bash('s', 'cat other.txt a.txt')).text).toContain('of the other\none\ntwo');
    expect(await ws.keep(stage)).toMatchObject({ ok: true, value: { state: 'kept', created: ['other.txt'] } });
    expect([ws.text('a.txt'), ws.text('other.txt')]).toEqual(['one\ntwo\n', 'of the other\n']);
  });
});

describe('sessions that stand on another one', () => {
  test('see its changes, and theirs are kept there first', async () => {
    await using ws = await open({ answers: [true] });
    const parent = await ws.collect('parent');
    await ws.bash('parent', 'echo two >>a.txt');
    const child = await ws.collect('child', 'parent');
    expect((await ws.bash('child', 'echo three >>a.txt; cat a.txt')).text).toContain('one\ntwo\nthree');
    expect((await ws.call('parent', 'read_file', { path: 'a.txt' })).text).not.toContain('three');
    expect(await ws.sessions().end(parent)).toMatchObject({ error: { code: 'CONFLICT', message: /session child/ } });
    expect(await ws.keep(child)).toMatchObject({ ok: true, value: { state: 'collected' } });
    expect((await ws.bash('parent', 'cat a.txt')).text).toContain('one\ntwo\nthree');
    expect([ws.text('a.txt'), ws.questions.length]).toEqual(['one\n', 0]);
    expect(await ws.keep(parent)).toMatchObject({ value: { state: 'kept' } });
    expect(ws.text('a.txt')).toBe('one\ntwo\nthree\n');
  });

  test('are compared with what they stand on, also after a restart', async () => {
    await using ws = await open();
    await ws.collect('parent');
    await ws.bash('parent', 'echo two >>a.txt');
    const child = await ws.collect('child', 'parent');
    await ws.bash('child', 'echo three >>a.txt');
    expect(await ws.sessions().end(child)).toEqual({ ok: true, value: true });
    await ws.restart();
    const found = await ws.find(child);
    const before = found.ok ? await found.value.read('a.txt', 'before', 1000) : found;
    expect(before.ok && Buffer.from(before.value ?? []).toString()).toBe('one\ntwo\n');
  });

  test('of parallel attempts the first that is kept wins, and the others are told', async () => {
    await using ws = await open({ answers: [true, true, true] });
    const names = ['one', 'two', 'three'];
    const stages = await Promise.all(names.map((name) => ws.collect(name)));
    await Promise.all(names.map((name) => ws.bash(name, `echo ${name} >>a.txt; echo ${name} >${name}.txt`)));
    for (const stage of stages) expect(await ws.sessions().end(stage)).toEqual({ ok: true, value: true });
    const [first, second] = stages as [SessionStage, SessionStage];
    expect(await ws.keepEnded(second)).toMatchObject({ value: { state: 'kept', created: ['two.txt'] } });
    const told = await ws.pending();
    const overtakenBy = { title: 'All changes of the session', paths: ['a.txt'] };
    expect(told.map((each) => [each.session, each.overtakenBy])).toEqual([
      ['one', overtakenBy],
      ['three', overtakenBy],
    ]);
    expect(await ws.keepEnded(first)).toMatchObject({ error: { code: 'CONFLICT', details: { paths: ['a.txt'] } } });
    expect([ws.text('a.txt'), existsSync(ws.file('one.txt'))]).toEqual(['one\ntwo\n', false]);
  });
});
