import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestOf, versionOf } from '../host/file-version.ts';
import { LIVE_INPUT, type RunningCommand, type RunRequest, type RunResult } from '../kernel/world/sandbox.ts';
import type { StagedChange } from '../kernel/world/stage.ts';
import type { SandboxCheck } from './sandbox-contract.ts';
import {
  briefly,
  check,
  createRunner,
  filled,
  newStage,
  type StageSubject,
  textOf,
  until,
} from './stages/stage-runner.ts';

/** The contract of staged runs: the changes are listed exactly, and the workspace stays as it was. */
export function stageContract(subject: StageSubject): SandboxCheck[] {
  const { changesOf } = createRunner(subject);

  return [
    check('lists nothing for a run that changes nothing', async () => {
      const { changes } = await changesOf(
        { a: '1', 'd/b': '2' },
        'cat a d/b; touch a; touch d; echo 1 >a.tmp; rm a.tmp; printf 1 >a',
      );
      assert.deepEqual(changes, []);
    }),
    check('lists what was created, modified and deleted with versions, and has the new content', async () => {
      const { changes, content } = await changesOf(
        { changed: 'old', gone: 'gone', kept: 'kept' },
        'printf new >changed; rm gone; mkdir -p d/e; printf x >d/e/f',
      );
      const file = (text: string) => ({
        type: 'file',
        mode: 0o644,
        size: text.length,
        version: versionOf(digestOf(Buffer.from(text))),
      });
      const folder = { type: 'directory', mode: 0o755, size: 0, version: null };
      assert.deepEqual(changes, [
        { path: 'changed', kind: 'modified', before: file('old'), after: file('new') },
        { path: 'd', kind: 'created', before: null, after: folder },
        { path: 'd/e', kind: 'created', before: null, after: folder },
        { path: 'd/e/f', kind: 'created', before: null, after: file('x') },
        { path: 'gone', kind: 'deleted', before: file('gone'), after: null },
      ]);
      assert.equal(readFileSync(join(content, 'd/e/f'), 'utf8'), 'x');
      assert.equal(readFileSync(join(content, 'changed'), 'utf8'), 'new');
    }),
    check('lists a deleted folder as one change with its entries and bytes', async () => {
      const { changes } = await changesOf({ 'd/a': '12', 'd/e/b': '345' }, 'rm -r d');
      assert.equal(changes.length, 1);
      const { kind, path, entries, bytes, before } = changes[0] as StagedChange;
      assert.deepEqual([kind, path, entries, bytes, before?.type], ['deleted', 'd', 3, 5, 'directory']);
      assert.match(before?.version ?? '', /^[0-9a-f]{32}$/);
    }),
    check('lists a rename as a deletion and a creation, also of a folder', async () => {
      const { changes } = await changesOf({ a: '1', 'd/b': '2' }, 'mv a c; mv d e');
      assert.deepEqual(briefly(changes), ['deleted a', 'created c', 'deleted d', 'created e', 'created e/b']);
    }),
    check('lists modes, of folders too', async () => {
      const { changes } = await changesOf({ a: '1', 'd/b': '2' }, 'chmod 755 a; chmod 1700 d');
      assert.deepEqual(briefly(changes), ['mode a', 'mode d']);
      assert.deepEqual(
        changes.map(({ after }) => after?.mode),
        [0o755, 0o1700],
      );
    }),
    check('lists a path that became another kind of thing as deleted and created', async () => {
      const script = 'rm a; mkdir a; echo >a/x; rm -r d; echo >d; rm l; echo >l';
      const { changes } = await changesOf({ a: '1', 'd/b': '2', l: { link: 'a' } }, script);
      const both = ['deleted a', 'created a', 'created a/x', 'deleted d', 'created d', 'deleted l', 'created l'];
      assert.deepEqual(briefly(changes), both);
    }),
    check('lists a folder that was removed and made again by what is in it', async () => {
      const { changes } = await changesOf({ 'd/a': '1', 'd/b': '2' }, 'rm -r d; mkdir d; printf 1 >d/a; echo >d/c');
      assert.deepEqual(briefly(changes), ['deleted d/b', 'created d/c']);
    }),
    check('lists symlinks with where they lead, and never follows them', async () => {
      const { changes } = await changesOf({ l: { link: 'old' } }, 'ln -sfn /etc l; ln -s nowhere n; ln -s . here');
      assert.deepEqual(briefly(changes), ['created here', 'modified l', 'created n']);
      assert.deepEqual(
        changes.map(({ after }) => after?.version),
        ['.', '/etc', 'nowhere'],
      );
      assert.equal(changes[1]?.before?.version, 'old');
    }),
  ];
}

/** The contract of the list of changes for names and files that are hard to name or to read. */
export function oddPathContract(subject: StageSubject): SandboxCheck[] {
  const { changesOf } = createRunner(subject);

  return [
    check('marks names that are no text, and lists all that is below them', async () => {
      const { changes } = await changesOf({}, `mkdir $'d\\xff'; echo >$'d\\xff/f'; echo >$'line\\nbreak'`);
      assert.deepEqual(
        changes.map(({ unnameable }) => unnameable === true),
        [true, true, false],
      );
      assert.equal(changes[2]?.path, 'line\nbreak');
    }),
    check('lists pipes, sockets and sparse files', async () => {
      const socket = `python3 -c "import os, stat; os.mknod('s', stat.S_IFSOCK | 0o600)"`;
      const { changes } = await changesOf({}, `mkfifo p; ${socket}; truncate -s 100M big`);
      assert.deepEqual(briefly(changes), ['created big', 'created p', 'created s']);
      assert.deepEqual(
        changes.map(({ after }) => after?.type),
        ['file', 'other', 'other'],
      );
      assert.equal(changes[0]?.after?.size, 100 * 1024 * 1024);
    }),
    check('lists paths that are deeper than a path may be long', async () => {
      const name = 'n'.repeat(200);
      const deep = `for i in $(seq 30); do mkdir ${name} && cd ${name}; done; echo >f`;
      const { changes } = await changesOf({}, deep);
      assert.equal(changes.length, 31);
      assert.equal(changes.at(-1)?.path.length, 30 * 201 + 1);
    }),
    check('lists what nobody may read', async () => {
      const { changes } = await changesOf({ a: '1' }, 'mkdir d; echo x >d/f; chmod 0 d/f d; chmod 0 a');
      assert.deepEqual(briefly(changes), ['mode a', 'created d', 'created d/f']);
      assert.deepEqual(
        changes.map(({ after }) => after?.mode),
        [0, 0, 0],
      );
      assert.equal(changes[2]?.after?.version, versionOf(digestOf(Buffer.from('x\n'))));
      const shut = await changesOf({ 'old/f': '1' }, 'mkdir d; echo x >d/f; echo 2 >old/f; chmod 644 d old');
      assert.deepEqual(briefly(shut.changes), ['created d', 'created d/f', 'mode old', 'modified old/f']);
    }),
  ];
}

/** The contract of a stage that this process has open. */
export function openStageContract(subject: StageSubject): SandboxCheck[] {
  const { staged, sandbox } = createRunner(subject);

  return [
    check('opens a stage for this process: runs see what it writes, and the workspace does not', async () => {
      const workspace = filled(subject.workspace(), { a: '1', 'd/x': '1', '.env': 'S=1' });
      const stage = { folder: await newStage(sandbox) };
      const opened = await sandbox.open({ workspace, stage });
      assert.ok(opened.ok);
      const view = `/proc/self/fd/${opened.value.fd}`;
      const secret = spawnSync('cat', ['.env'], { cwd: `/proc/${process.pid}/fd/${opened.value.fd}` });
      assert.match(secret.stdout.toString(), /^\0*$/);
      writeFileSync(`${view}/a`, '2');
      renameSync(`${view}/d/x`, `${view}/d/y`);
      mkdirSync(`${view}/new`);
      writeFileSync(`${view}/new/f`, '3');
      const read = await sandbox.run({
        command: { script: 'cat a new/f; ls d; echo >z' },
        workspace,
        mounts: 'read',
        tag: 'r',
        stage,
      });
      assert.ok(read.ok);
      assert.match(textOf(read.value), /^23y\n/);
      const above = await staged('cat a; rm new/f', {
        workspace,
        stage: { folder: await newStage(sandbox), below: [stage.folder] },
      });
      assert.equal(textOf(above), '2');
      assert.deepEqual(briefly(above.staged?.changes ?? []), ['deleted new/f']);
      const inside = await sandbox.run({ command: ['true'], workspace, mounts: 'staged', tag: 's', stage });
      assert.equal(inside.ok ? 'ran' : inside.error.code, 'CONFLICT');
      writeFileSync(`${view}/later`, '4');
      opened.value.close();
      assert.equal(existsSync(join(workspace, 'later')), false);
      const compared = await sandbox.compare({ workspace, stage });
      assert.ok(compared.ok);
      const expected = ['modified a', 'deleted d/x', 'created d/y', 'created later', 'created new', 'created new/f'];
      assert.deepEqual(briefly(compared.value.changes), expected);
      const again = await sandbox.open({ workspace, stage });
      assert.ok(again.ok);
      assert.equal(readFileSync(`/proc/self/fd/${again.value.fd}/later`, 'utf8'), '4');
      again.value.close();
    }),
  ];
}

/** The contract of what happens around a staged run: in its stage before and after it, and on the host meanwhile. */
export function stageLifeContract(subject: StageSubject): SandboxCheck[] {
  const { staged, sandbox } = createRunner(subject);

  return [
    check('says which files the host changed meanwhile, and lists none that only the host changed', async () => {
      const workspace = filled(subject.workspace(), { ours: '1', both: '1', theirs: '1' });
      const { result } = await meanwhile({ workspace }, 'printf 2 >ours; printf 2 >both', () => {
        for (const name of ['both', 'theirs']) writeFileSync(join(workspace, name), '33');
        writeFileSync(join(workspace, 'new'), '3');
      });
      const changes = result.staged?.changes ?? [];
      assert.deepEqual(briefly(changes), ['modified both', 'modified ours']);
      assert.deepEqual(
        changes.map(({ overtaken }) => overtaken),
        [true, undefined],
      );
    }),
    check('says of a deleted folder that the host changed something in it meanwhile', async () => {
      const workspace = filled(subject.workspace(), { 'a/x/f': '1', 'b/x/f': '1', 'c/x/f': '1' });
      const { result } = await meanwhile({ workspace }, 'rm -r a b c', () => {
        writeFileSync(join(workspace, 'a/x/f'), '33');
        writeFileSync(join(workspace, 'b/x/new'), '3');
      });
      const changes = result.staged?.changes ?? [];
      assert.deepEqual(briefly(changes), ['deleted a', 'deleted b', 'deleted c']);
      assert.deepEqual(
        changes.map(({ overtaken }) => overtaken),
        [true, true, undefined],
      );
    }),
    check('continues in a stage: its changes stay, and a folder that it made can be the start', async () => {
      const workspace = filled(subject.workspace(), { a: '1' });
      const stage = { folder: await newStage(sandbox) };
      await staged('mkdir d; echo 1 >d/f; rm a', { workspace, stage });
      const second = await staged('pwd; cat f; ls -a ..; echo 2 >f', { workspace, stage, cwd: 'd' });
      assert.equal(textOf(second), `${workspace}/d\n1\n.\n..\nd\n`);
      assert.deepEqual(briefly(second.staged?.changes ?? []), ['deleted a', 'created d', 'created d/f']);
      const compared = await sandbox.compare({ workspace, stage });
      assert.deepEqual(compared, { ok: true, value: second.staged });
    }),
    check('lists the changes of a stage that stands on another one against that one', async () => {
      const workspace = filled(subject.workspace(), { a: '1', b: '1', 'd/x': '1' });
      const [lower, upper] = [await newStage(sandbox), await newStage(sandbox)];
      await staged('echo 2 >a; rm b; rm -r d; mkdir d; echo 3 >d/y', { workspace, stage: { folder: lower } });
      const stage = { folder: upper, below: [lower] };
      const result = await staged('cat a; ls . d; rm a d/y; echo 4 >b', { workspace, stage });
      assert.equal(textOf(result), '2\n.:\na\nd\n\nd:\ny\n');
      assert.deepEqual(briefly(result.staged?.changes ?? []), ['deleted a', 'created b', 'deleted d/y']);
      assert.deepEqual(await sandbox.compare({ workspace, stage }), { ok: true, value: result.staged });
      const own = await sandbox.compare({ workspace, stage: { folder: lower } });
      assert.ok(own.ok);
      assert.deepEqual(briefly(own.value.changes), ['modified a', 'deleted b', 'deleted d/x', 'created d/y']);
    }),
    check('compares a stage while a run goes on in it, in which no second one can run', async () => {
      const workspace = filled(subject.workspace(), { a: '1' });
      const stage = { folder: await newStage(sandbox) };
      await meanwhile({ workspace, stage }, 'true', async () => {
        const compared = await sandbox.compare({ workspace, stage });
        assert.ok(compared.ok);
        assert.deepEqual(briefly(compared.value.changes), ['created begun']);
        const request = { command: ['true'], workspace, mounts: 'staged', tag: 'second', stage } as const;
        const second = await sandbox.run(request);
        assert.equal(second.ok ? 'ran' : second.error.code, 'CONFLICT');
        if (!second.ok) assert.match(second.error.message, /still works on these pending changes/);
      });
    }),
    check('refuses a stage of another workspace', async () => {
      const stage = { folder: await newStage(sandbox) };
      await staged('echo >x', { workspace: subject.workspace(), stage });
      const compared = await sandbox.compare({ workspace: subject.workspace(), stage });
      assert.equal(compared.ok ? 'compared' : compared.error.code, 'INVALID_INPUT');
    }),
    check('ends a run that makes too many files, and one that takes too much room', async () => {
      const many = await staged('for i in $(seq 3000); do echo >$i; done; sleep 30', {
        limits: { newFiles: 1000 },
      });
      assert.deepEqual([many.endedBy, many.staged], ['write', null]);
      const reserve = `python3 -c "import os; f=os.open('big',os.O_RDWR|os.O_CREAT); os.posix_fallocate(f,0,200<<20); import time; time.sleep(30)"`;
      const large = await staged(reserve, { limits: { writeBytes: 50 * 1024 * 1024 } });
      assert.equal(large.endedBy, 'write');
      assert.deepEqual(briefly(large.staged?.changes ?? []), ['created big']);
    }),
    check('lists nothing for a run that was cancelled before it began, however early', async () => {
      const workspace = filled(subject.workspace(), { a: '1', 'd/b': '2' });
      const lists: unknown[] = [];
      for (let ms = 0; ms < 60; ms += 3) {
        const stage = { folder: await newStage(sandbox) };
        const base = { command: { script: 'sleep 60' }, workspace, mounts: 'staged', tag: 'early', stage } as const;
        const result = await sandbox.run({ ...base, signal: AbortSignal.timeout(ms) });
        if (result.ok) lists.push(result.value.staged?.changes);
        else assert.equal(result.error.code, 'CANCELLED');
      }
      assert.deepEqual(
        lists,
        lists.map(() => []),
      );
    }),
  ];

  async function meanwhile(
    more: Partial<RunRequest>,
    script: string,
    step: () => void | Promise<void>,
  ): Promise<{ result: RunResult; output: string }> {
    let running: RunningCommand | undefined;
    const onStart = (started: RunningCommand) => {
      running = started;
    };
    const begin = more.stage === undefined ? 'echo ready' : 'echo >begun; echo ready';
    const ended = staged(`${begin}; read; ${script}`, { ...more, stdin: LIVE_INPUT, onStart });
    await until(() => (running?.log.totalBytes ?? 0) >= 6);
    await step();
    running?.input?.write('\n');
    const result = await ended;
    return { result, output: textOf(result) };
  }
}

const SECRETS = ['hush-1', 'hush-2', 'hush-3'];
const XATTR_GAMES = `python3 - <<'P'
import os
for p in ['sub', '.', '.env']:
  for k, v in [('user.overlay.opaque', b'n'), ('user.overlay.redirect', b'/'), ('user.overlay.whiteout', b'y'), ('trusted.overlay.opaque', b'n')]:
    try: os.setxattr(p, k, v)
    except OSError: pass
P
cat .env sub/.env sub/.ssh/id`;

/** Ways to read a hidden file. */
const ATTEMPTS: Readonly<Record<string, string>> = {
  'by its name': 'cat .env sub/.env sub/.ssh/id; head -c 100 sub/.ssh',
  'by other names': 'cat innocent.txt ln',
  'after chmod': 'chmod 644 .env sub/.env innocent.txt; chmod 755 sub/.ssh; cat .env sub/.env innocent.txt sub/.ssh/id',
  'after mv': 'mv .env e; cat e; chmod 644 e; cat e',
  'after cp': 'cp .env e; cat e; cp -a . /tmp/x; grep -r hush /tmp/x',
  'by a hard link': 'ln .env e; chmod 644 e; cat e',
  'in an archive': 'tar c . | strings | grep hush',
  'after rm': 'rm -f .env innocent.txt; cat .env innocent.txt; ls -la',
  'in a folder that was removed and made again': 'rm -rf sub; mkdir -p sub/.ssh; cat sub/.env sub/.ssh/id',
  'in a renamed folder': 'mv sub sub2; cat sub2/.env sub2/.ssh/id',
  'by rename(2)': `python3 -c "import os; os.rename('sub','s3')"; cat s3/.env s3/.ssh/id`,
  'with git add -f':
    'git init -q g 2>&1; GIT_DIR=g/.git GIT_WORK_TREE=. git add -f .env sub; GIT_DIR=g/.git git show :.env :sub/.env',
  'with attributes of the overlay': XATTR_GAMES,
  'with a whiteout, a mount or a namespace':
    'mknod .env c 0 0; mount -t overlay o -o lowerdir=/ /tmp; unshare -Urm sh -c "umount ."; cat .env',
  'by searching everything': 'grep -rs -D skip hush . /tmp /home /run /var /etc',
  'through /proc':
    'cat /proc/self/root/$PWD/.env /proc/1/cwd/.env /proc/self/cwd/sub/.env; grep -s hush /proc/self/mountinfo',
};

/** The contract of hidden files: no way of reading one works, in a stage or in mode `read`. */
export function hiddenFileContract(subject: StageSubject): SandboxCheck[] {
  const { staged } = createRunner(subject);

  function withSecrets(): string {
    const files = { '.env': 'KEY=hush-1', 'sub/.env': 'KEY=hush-2', 'sub/.ssh/id': 'hush-3', 'a.txt': 'a' };
    const workspace = filled(subject.workspace(), files);
    linkSync(join(workspace, '.env'), join(workspace, 'innocent.txt'));
    symlinkSync('.env', join(workspace, 'ln'));
    return workspace;
  }

  return [
    ...Object.entries(ATTEMPTS).map(([way, script]) =>
      check(`hides a file from being read ${way}`, async () => {
        const workspace = withSecrets();
        const result = await staged(script, { workspace, limits: { timeMs: 30_000 } });
        assertNoSecret(textOf(result));
        const read = await staged(script, { workspace, mounts: 'read', limits: { timeMs: 30_000 } });
        assertNoSecret(textOf(read));
        const found = spawnSync('grep', ['-rls', SECRETS[0] ?? '', result.staged?.content ?? '/none']);
        assert.equal(found.stdout.toString(), '', 'a secret lies in the stage');
      }),
    ),
    check('lists no change for hidden files that nobody touched, and no version of one that was', async () => {
      const workspace = withSecrets();
      const result = await staged('echo >sub/new; rm sub/.env; echo x >x; mv x .env', { workspace });
      const changes = result.staged?.changes ?? [];
      assert.deepEqual(briefly(changes), ['modified .env', 'deleted sub/.env', 'created sub/new']);
      assert.deepEqual(
        changes.map(({ before }) => before?.version ?? null),
        [null, null, null],
      );
    }),
    check('hides a file that the host saves by rename while a run goes on', async () => {
      const workspace = withSecrets();
      let running: RunningCommand | undefined;
      const onStart = (started: RunningCommand) => {
        running = started;
      };
      const ended = staged('cat .env; echo ready; read; cat .env', { workspace, stdin: LIVE_INPUT, onStart });
      await until(() => Buffer.from(running?.log.read(0, 1000) ?? []).includes('ready'));
      writeFileSync(join(workspace, 'next'), 'KEY=hush-1-new');
      renameSync(join(workspace, 'next'), join(workspace, '.env'));
      running?.input?.write('\n');
      assertNoSecret(textOf(await ended));
    }),
    check('hides 900 files in 900 folders in mode read and in a stage', async () => {
      const workspace = subject.workspace();
      for (let i = 0; i < 900; i++) filled(workspace, { [`d${i}/.env`]: 'hush-1' });
      for (const more of [{ mounts: 'read' as const }, {}]) {
        const result = await staged('cat d*/.env; ls d*/.env | wc -l', { workspace, ...more });
        assertNoSecret(textOf(result));
        assert.match(textOf(result), /^900$/m);
        assert.deepEqual(result.staged?.changes ?? [], []);
      }
    }),
  ];
}

function assertNoSecret(text: string): void {
  for (const secret of SECRETS) assert.ok(!text.includes(secret), `it read ${secret}: ${text.slice(0, 500)}`);
}
