import assert from 'node:assert/strict';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { LIVE_INPUT, type RunningCommand, type RunResult } from '../../kernel/world/sandbox.ts';
import type { SandboxCheck } from '../sandbox-contract.ts';
import { HUSHED, PRIVATE_KEY, TOKEN } from './content-contract.ts';
import {
  briefly,
  check,
  createRunner,
  filled,
  newStage,
  type StageSubject,
  textOf,
  until,
  type WorkspaceFiles,
} from './stage-runner.ts';

/** Prints the path and the content at each event, in folders that come later too. */
const WATCHER = `python3 -u - <<'P'
import ctypes, os, struct
libc = ctypes.CDLL(None)
fd = libc.inotify_init1(0)
folders = {}
def enter(path):
  folders[libc.inotify_add_watch(fd, path.encode(), 0x3ca)] = path
  for name in os.listdir(path): show(os.path.join(path, name))
def show(path):
  if os.path.isdir(path): enter(path)
  else:
    try: print(path, open(path).read(), flush=True)
    except OSError as error: print(path, error.strerror, flush=True)
enter('.')
print('ready', flush=True)
while True:
  data = os.read(fd, 65536)
  while data:
    wd, mask, _, size = struct.unpack_from('iIII', data)
    name = data[16:16 + size].rstrip(b'\\0').decode()
    data = data[16 + size:]
    show(os.path.join(folders[wd], name))
P`;

/** Reads everything that there is, again and again, until its input ends. */
const READER = `echo ready; sh -c 'while :; do cat .* * sub/.* sub/* */.* */* sub/deep/.env 2>/dev/null; done' & cat >/dev/null; kill $!`;

/** The contract of runs that follow the host: they see its edits with events, and never a file that must be hidden. */
export function followContract(subject: StageSubject): SandboxCheck[] {
  const { sandbox } = createRunner(subject);
  const following = createFollowing(subject);

  return [
    check(
      'shows edits of the host with events: in place, by rename, new ones, deletions, in the root too',
      async () => {
        const run = await following({ 'src/a': '1', 'src/b': '1', top: '1', 'src/gone': '1' }, WATCHER);
        const edits: [() => void, RegExp][] = [
          [() => run.write('src/a', 'in place'), /^\.\/src\/a in place$/m],
          [() => run.save('src/b', 'by rename'), /^\.\/src\/b by rename$/m],
          [() => run.save('top', 'in the root'), /^\.\/top in the root$/m],
          [() => run.write('src/new', 'a new one'), /^\.\/src\/new a new one$/m],
          [() => run.write('made/later/x', 'below new folders'), /^\.\/made\/later\/x below new folders$/m],
          [() => run.write('made/later/x', 'and again'), /^\.\/made\/later\/x and again$/m],
          [() => rmSync(join(run.workspace, 'src/gone')), /^\.\/src\/gone No such file or directory$/m],
          [() => rmSync(join(run.workspace, 'made'), { recursive: true }), /^\.\/made No such file or directory$/m],
        ];
        for (const [edit, shown] of edits) {
          edit();
          await until(() => shown.test(run.output()));
        }
        const result = await run.stop();
        assert.deepEqual(result.staged?.changes, []);
      },
    ),
    check('never shows a file that must be hidden and appears or is replaced while it goes on', async () => {
      const files = { '.env': 'KEY=hush-0', 'sub/a': '1', 'sub/deep/a': '1', data: '1' };
      const run = await following(files, READER);
      run.write('.env.local', 'KEY=hush-1');
      run.write('sub/.env', 'KEY=hush-2');
      run.write('sub/deep/.env', 'KEY=hush-3');
      run.write('made/.env', 'KEY=hush-4');
      run.write('.ssh/id', 'hush-5');
      linkSync(join(run.workspace, '.env.local'), join(run.workspace, 'sub/innocent'));
      symlinkSync('.env.local', join(run.workspace, 'link'));
      for (let i = 0; i < 10; i++) {
        run.save('.env', `KEY=hush-6-${i}`);
        run.write(`mark-${i}`, `mark-${i}\n`);
        await until(() => run.output().includes(`mark-${i}\n`));
      }
      const result = await run.end();
      assert.ok(!run.output().includes('hush'), 'it read a hidden file');
      assert.equal(result.endedBy, null);
      assert.deepEqual(result.staged?.changes, []);
    }),
    check('hides a file from the moment at which a symlink makes it a secret', async () => {
      const run = await following({ data: 'old' }, READER);
      symlinkSync('data', join(run.workspace, '.env'));
      writeFileSync(join(run.workspace, 'data'), 'hush-1');
      run.write('mark', 'mark\n');
      await until(() => run.output().includes('mark\n'));
      await run.end();
      assert.ok(!run.output().includes('hush'), 'it read a hidden file');
    }),
    check('never shows a file whose content is a secret by the time it would arrive', async () => {
      const run = await following({ a: '1', 'sub/a': '1', 'sub/deep/a': '1', b: PRIVATE_KEY }, READER);
      for (let i = 0; i < 5; i++) {
        run.write('a', `${TOKEN}${i}`);
        run.save('sub/a', `${PRIVATE_KEY}${i}`);
        run.write('made/x', TOKEN);
        run.write(`sub/new-${i}`, PRIVATE_KEY);
        run.write(`mark-${i}`, `mark-${i}\n`);
        await until(() => run.output().includes(`mark-${i}\n`));
        run.write('a', `plain-${i}\n`);
        await until(() => run.output().includes(`plain-${i}\n`));
      }
      const result = await run.end();
      assert.ok(!run.output().includes(HUSHED), 'it read a secret');
      assert.deepEqual(result.staged?.changes, []);
    }),
    check('refuses a workspace that is too large to follow, and names what takes the room', async () => {
      const workspace = filled(subject.workspace(), { a: '1', 'data/big': '1' });
      truncateSync(join(workspace, 'data/big'), 600 * 1024 * 1024);
      const stage = { folder: await newStage(sandbox), followsHost: true } as const;
      const request = { command: ['true'], workspace, mounts: 'staged', tag: 'large', stage } as const;
      const result = await sandbox.run(request);
      assert.deepEqual(result.ok ? 'ran' : [result.error.code, /in data\b/.test(result.error.message)], [
        'TOO_LARGE',
        true,
      ]);
    }),
  ];
}

/** The contract of the list of changes of such runs, and of what they cannot do to the host. */
export function followedChangesContract(subject: StageSubject): SandboxCheck[] {
  const { sandbox } = createRunner(subject);
  const following = createFollowing(subject);

  return [
    check('lists exactly what the run changed, and leaves that as it is when the host edits it', async () => {
      const files = { ours: '1', both: '1', theirs: '1', 'gone/a': '1', removed: '1', 'mixed/a': '1', '.env': 'hush' };
      const script = 'echo 2 >ours; echo 2 >both; rm removed; echo 2 >mixed/own; echo done; cat >/dev/null; cat both';
      const run = await following({ ...files, 'node_modules/p/a': '1' }, `echo ready; cat node_modules/p/a; ${script}`);
      await until(() => run.output().includes('done'));
      for (const path of ['both', 'theirs', 'removed', 'later/x', 'node_modules/p/b']) run.write(path, '33');
      for (const path of ['gone', 'mixed/a']) rmSync(join(run.workspace, path), { recursive: true });
      const compared = await sandbox.compare({ workspace: run.workspace, stage: run.stage });
      assert.ok(compared.ok);
      const own = ['modified both', 'created mixed/own', 'modified ours', 'deleted removed'];
      assert.deepEqual(briefly(compared.value.changes), own);
      const result = await run.end();
      assert.match(run.output(), /done\n2\n$/);
      assert.deepEqual(briefly(result.staged?.changes ?? []), own);
      assert.deepEqual(
        result.staged?.changes.map(({ overtaken }) => overtaken),
        [true, undefined, undefined, true],
      );
    }),
    check('lists what the run changed in a file after the host did, and in packages', async () => {
      const script = 'echo ready; until grep -q host a; do sleep 0.05; done; echo run >>a; rm node_modules/p/a';
      const run = await following(
        { a: '1', 'node_modules/p/a': '1', '.git/objects/aa/b': '1' },
        `${script}; echo 2 >node_modules/new`,
      );
      run.save('a', 'host\n');
      const result = await run.ended;
      const changes = ['modified a', 'created node_modules/new', 'deleted node_modules/p/a'];
      assert.deepEqual(briefly(result.staged?.changes ?? []), changes);
      assert.deepEqual(await sandbox.compare({ workspace: run.workspace, stage: run.stage }), {
        ok: true,
        value: result.staged,
      });
    }),
    check('writes nothing outside of the copy when the run puts a symlink in the place of a folder', async () => {
      const outside = mkdtempSync(join(subject.workspace(), 'outside-'));
      const script = `rm -r src sub; ln -s ${outside} src; ln -s ${outside}/new sub; echo done; cat >/dev/null`;
      const run = await following({ 'src/a': '1', 'sub/a': '1' }, `echo ready; ${script}`);
      await until(() => run.output().includes('done'));
      for (const path of ['src/a', 'src/b', 'sub/a', 'sub/deep/b']) run.write(path, '2');
      await run.end();
      assert.deepEqual(readdirSync(outside), []);
    }),
  ];
}

interface FollowingRun {
  readonly workspace: string;
  readonly stage: { readonly folder: string };
  readonly ended: Promise<RunResult>;
  output(): string;
  /** Writes a file of the host in place. */
  write(path: string, text: string): void;
  /** Writes another file of the host and gives it this name. */
  save(path: string, text: string): void;
  /** Ends its input. */
  end(): Promise<RunResult>;
  stop(): Promise<RunResult>;
}

function createFollowing(subject: StageSubject): (files: WorkspaceFiles, script: string) => Promise<FollowingRun> {
  const { staged, sandbox } = createRunner(subject);
  return async function following(files: WorkspaceFiles, script: string): Promise<FollowingRun> {
    const workspace = filled(subject.workspace(), files);
    const stage = { folder: await newStage(sandbox), followsHost: true } as const;
    const stopping = new AbortController();
    let running: RunningCommand | undefined;
    const onStart = (started: RunningCommand) => {
      running = started;
    };
    const limits = { timeMs: 60_000 };
    const ended = staged(script, { workspace, stage, stdin: LIVE_INPUT, onStart, signal: stopping.signal, limits });
    const output = () => Buffer.from(running?.log.read(0, 32_000_000) ?? []).toString();
    await Promise.race([until(() => /^ready$/m.test(output())), ended.then((result) => assert.fail(textOf(result)))]);
    const write = (path: string, text: string): void => {
      mkdirSync(join(workspace, dirname(path)), { recursive: true });
      writeFileSync(join(workspace, path), text);
    };
    return {
      ...{ workspace, stage, ended, output, write },
      save(path, text) {
        write('next', text);
        renameSync(join(workspace, 'next'), join(workspace, path));
      },
      end() {
        running?.input?.close();
        return ended;
      },
      stop() {
        stopping.abort();
        return ended;
      },
    };
  };
}
