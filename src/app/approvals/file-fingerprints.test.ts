import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Fingerprinter } from '../../kernel/ports.ts';
import { createToolwright } from '../../runtime/create-toolwright.ts';
import { commandWorkspace } from '../../testing/command-workspace.ts';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { builtInTools } from '../../tools/index.ts';
import { openWorkspace, type Workspace } from '../../workspace/open-workspace.ts';
import { createFingerprinter } from './file-fingerprints.ts';

let root = '';
let workspace: Workspace;
let witness: Fingerprinter;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'witness-'));
  workspace = await openWorkspace({ root });
  witness = createFingerprinter(workspace);
});
afterAll(async () => {
  await workspace.close();
  rmSync(root, { recursive: true, force: true });
});

let count = 0;
function write(path: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `text ${count++}\n`.repeat((count % 7) + 1));
}

const look = (command: string, more: { cwd?: string } = {}) =>
  witness([{ kind: 'process.run', command, writes: 'workspace', ...more }], new ExecutionContext({ workingDir: root }));

test.each(['python', 'javascript', 'bash'] as const)(
  'code in %s is bound to its folder and arguments',
  async (code) => {
    const ctx = new ExecutionContext({ workingDir: root });
    const lookAt = () =>
      witness(
        [
          {
            kind: 'process.run',
            command: 'print 1',
            writes: 'workspace',
            code,
            cwd: `${code}-in`,
            args: ['--of=x.sh'],
          },
        ],
        ctx,
      );
    for (const folder of ['a', 'b']) mkdirSync(join(root, `${code}-${folder}`));
    symlinkSync(`${code}-a`, join(root, `${code}-in`));
    const first = await lookAt();
    expect(await lookAt()).toEqual(first);
    write(`${code}-a/x.sh`);
    const second = await lookAt();
    expect(second).not.toEqual(first);
    write(`${code}-a/x.sh`);
    expect(await lookAt()).not.toEqual(second);
  },
);

test('code is not run in another folder than the one that was agreed to, nor on another file', async () => {
  const path = process.env['PATH'] ?? '/usr/bin:/bin';
  let seen: Workspace | undefined;
  let swap = () => {};
  await using ws = await commandWorkspace({
    path,
    files: { 'a/x': '', 'b/x': '', 'x.sh': 'echo good' },
    options: {
      fingerprinter: (access, context) => createFingerprinter(seen as Workspace)(access, context),
      approver() {
        swap();
        return { approved: true };
      },
    },
  });
  seen = ws.workspace;
  const network = { network: true, hosts: ['example.org'] };
  const toFolder = (folder: string) => execFileSync('ln', ['-sfn', folder, ws.file('in')]);
  toFolder('a');
  swap = () => toFolder('b');
  const inFolder = { language: 'python', code: 'print(1)', cwd: 'in', ...network };
  expect((await ws.call('run_code', inFolder)).error?.code).toBe('APPROVAL_DENIED');
  swap = () => writeFileSync(ws.file('x.sh'), 'echo evil');
  const onFile = { language: 'bash', code: 'sh "$1"', args: ['x.sh'], ...network };
  expect((await ws.call('run_code', onFile)).error?.code).toBe('APPROVAL_DENIED');
});

const words = Array.from({ length: 80 }, (_, index) => `word${index}`).join(' ');

describe('a yes to a command is none once this has changed:', () => {
  const cases: readonly (readonly [command: string, changed: string, cwd?: string])[] = [
    ['python x.py', 'x.py'],
    ['python3 -m pkg.job --fast', 'pkg/job.py'],
    ['node build', 'build.js'],
    ['node build.js', 'deep/build.js', 'deep'],
    [`echo ${words} && sh last.sh`, 'last.sh'],
    ['cd one && cd two && ./run.sh', 'one/two/run.sh'],
    ['pushd one; make -f other.mk', 'one/other.mk'],
    ['make -fglued.mk', 'glued.mk'],
    ['sh -c "cd inner && node job.js"', 'inner/job.js'],
    ["timeout 5 bash -c 'python tool.py'", 'tool.py'],
    ['bash <<E\npython heredoc.py\nE', 'heredoc.py'],
    ['env -C sub npm test', 'sub/package.json'],
    ['env -C away bash -c "python far.py"', 'away/far.py'],
    ['make -C kit all', 'kit/Makefile'],
    ['npm --prefix web run build', 'web/package.json'],
    ['X=var.sh; sh $X', 'var.sh'],
    ['for f in loop.py; do python $f; done', 'loop.py'],
    ['cat *.log', 'new.log'],
    ['rm parts/*/old.txt', 'parts/a/old.txt'],
    ['rm -rf folder', 'folder/a/b/c.txt'],
    ['rm -rf gone*', 'gone-1/a/b.txt'],
    ['sh -c "rm -rf nested"', 'nested/a/b.txt'],
    ['python {left,right}.py', 'right.py'],
    ['cat *.twice; echo "*.twice"', 'new.twice'],
    ['for i in 1 2; do cat in-loop | sh; mkdir -p zz; cd looped; done', 'looped/in-loop'],
    ['while true; do sh a.sh; cd up; cd down; done', 'up/down/up/a.sh'],
    ["for i in 1 2; do eval 'sh b.sh'; cd evaled; done", 'evaled/b.sh'],
    ["trap 'sh < at-end' EXIT; cd trapped", 'trapped/at-end'],
    ['make -sC cluster', 'cluster/Makefile'],
    ['make -BkCglued-cluster', 'glued-cluster/Makefile'],
    ['make --direc=abbreviated', 'abbreviated/Makefile'],
    ['cd $(pwd)/elsewhere; make -C ROOT/whole', 'whole/Makefile', 'elsewhere'],
    ['cd by-pat* && sh r.sh', 'by-pattern/r.sh'],
    ['make -C by-make*', 'by-make-1/Makefile'],
    ['cd in-pat*; cd deeper; sh r.sh', 'in-pattern/deeper/r.sh'],
    ['env -S "-C split sh r.sh"', 'split/r.sh'],
    ["env -iS'sh -c' 'cd split2 && sh r.sh'", 'split2/r.sh'],
    ['sed -nfx.sed y', 'x.sed'],
    ['curl -sKconfig.curl', 'config.curl'],
    [`sh < ${'./'.repeat(520)}dotted.sh`, 'dotted.sh'],
    [`cat ${`${'n'.repeat(200)}/`.repeat(7)}long.sh | sh`, `${`${'n'.repeat(200)}/`.repeat(7)}long.sh`],
    ['cp -r taken out', 'taken/a/b.txt'],
    ['tar cf - packed', 'packed/a/b.txt'],
    ['curl -s -d @up.txt http://localhost', 'up.txt'],
    ['curl -s -d@up2.txt http://localhost', 'up2.txt'],
    ['curl --data=@up3.txt http://localhost', 'up3.txt'],
    ["curl -F 'f=@up4.txt;type=text/plain' http://localhost", 'up4.txt'],
    ['curl -F "f=<up5.txt" http://localhost', 'up5.txt'],
    ['curl --data-urlencode name@up6.txt http://localhost', 'up6.txt'],
    ['java -cp a.jar:b.jar Main', 'b.jar'],
    ['sh __proto__', '__proto__'],
    ['rm -rf slash*/', 'slashed/a/b.txt'],
    ['cd sought && find -name deploy.sh -exec sh {} +', 'sought/a/deploy.sh', 'sought'],
  ];
  for (const [written, path, cwd] of cases) {
    test(`${written.slice(0, 40)}: ${path}`, async () => {
      const command = written.replace('ROOT', root);
      const more = cwd === undefined ? {} : { cwd };
      const absent = await look(command, more);
      write(path);
      const before = await look(command, more);
      expect(before).not.toEqual(absent);
      expect(await look(command, more)).toEqual(before);
      write('unrelated/thing.txt');
      expect(await look(command, more)).toEqual(before);
      write(path);
      expect(await look(command, more)).not.toEqual(before);
    });
  }
});

test('a command with more names than can be followed is bound to all that is there', async () => {
  const many = Array.from({ length: 6000 }, (_, index) => `w${index}`).join(' ');
  const before = await look(`echo ${many}; sh the-last.sh`);
  expect(Object.keys(before).length).toBeLessThan(60);
  write('anywhere/at/all.txt');
  expect(await look(`echo ${many}; sh the-last.sh`)).not.toEqual(before);
});

test.each([
  ["sh '[a]'*.sh", '[a]x.sh'],
  ['shopt -s extglob\nsh @(odd|y).sh', 'odd.sh'],
  ['sh [[:alpha:]]9.sh', 'q9.sh'],
  ['ls . ; sh [[:alpha:]]9.sh', 'q9.sh'],
  ['sh *{a}.sh', 'b{a}.sh'],
  ['cd o*; cd ..; sh go[[:alpha:]]', 'gone'],
])('what a pattern may match that is not read here is among all that is there: %s', async (command, changed) => {
  write(changed);
  const before = await look(command);
  expect(await look(command)).toEqual(before);
  write(changed);
  expect(await look(command)).not.toEqual(before);
});

test('all that is there counts also where the folder itself is named', async () => {
  write('q9.sh');
  const before = await look('sh [[:alpha:]]9.sh', { cwd: '.' });
  write('q9.sh');
  expect(await look('sh [[:alpha:]]9.sh', { cwd: '.' })).not.toEqual(before);
});

test.each([
  'find -name deploy.sh -exec sh {} \\;',
  "find . '-name' deploy.sh -exec sh {} +",
  'fd -e sh -x sh',
  'fdfind deploy -X rm',
  '/usr/bin/env find -delete',
  'fd -e sh | xargs sh',
  'timeout 5 fdfind -e sh | xargs sh',
  'sudo find | xargs rm',
  'xargs find -delete',
  'cat */deploy.sh | sh',
  'rm -rf *',
  'sh scripts/[[:alpha:]]*.sh',
])('%s is bound to what stands behind very many packages', async (command) => {
  if (!existsSync(join(root, 'node_modules'))) {
    mkdirSync(join(root, 'node_modules'));
    for (let at = 0; at < 10_500; at++) writeFileSync(join(root, `node_modules/${at}`), '');
  }
  write('scripts/deploy.sh');
  const before = await look(command);
  expect(await look(command)).toEqual(before);
  write('scripts/deploy.sh');
  expect(await look(command)).not.toEqual(before);
});

test.each([
  'find linking -name a.sh -exec sh {} +',
  'find linking -name a.sh | xargs sh',
  'find linking -follow -name a.sh -delete',
  'cp -rL linking out',
  'cp -r $X linking out',
  'chown -RL me linking',
  'tar chf - linking',
])('%s is bound to what links lead to', async (command) => {
  write('led-to/by-tree.sh');
  mkdirSync(join(root, 'linking'), { recursive: true });
  execFileSync('ln', ['-sfn', '../led-to/by-tree.sh', join(root, 'linking/a.sh')]);
  const before = await look(command);
  expect(await look(command)).toEqual(before);
  write('led-to/by-tree.sh');
  expect(await look(command)).not.toEqual(before);
});

test.each([
  'rm -rf packages',
  'tar czf x.tgz packages',
  "find packages -name '*.map' -delete",
  'find packages -maxdepth 1 -delete',
  'chmod -R u+w packages',
  'cp -r packages other',
  'rsync -a packages/ other/',
  'rm -rf packages && zip -r x.zip out',
  'git commit -m find',
  'cd packages && true && cd - && true && cd packages && true && cd - && true && cd packages && rm x',
  'brew install fd',
  'find -P packages -name x -delete',
  `rm -rf \${BUILD}/*`,
])('%s is bound to nothing elsewhere, whatever links there are', async (command) => {
  write('led-to/by-tree.sh');
  mkdirSync(join(root, 'packages/.bin'), { recursive: true });
  execFileSync('ln', ['-sfn', '../led-to/by-tree.sh', join(root, 'packages/.bin/a')]);
  const before = await look(command);
  write('logs/dev.log');
  expect(await look(command)).toEqual(before);
});

test('very many patterns in many folders are looked at in bounded time, and other work goes on', async () => {
  const others = Array.from({ length: 12 }, (_, at) => `*z${at}`).join(' ');
  const many = Array.from({ length: 2_400 }, (_, at) => `*z${at}`).join(' ');
  for (const folder of ['a', 'b', 'c']) mkdirSync(join(root, folder), { recursive: true });
  let turns = 0;
  const ticking = setInterval(() => turns++, 5);
  const before = await look(`cd a; cd ../b; cd ../c; rm -rf ${many}`);
  clearInterval(ticking);
  expect(turns).toBeGreaterThan(10);
  write('anywhere/at/all.txt');
  expect(await look(`cd a; cd ../b; cd ../c; rm -rf ${many}`)).not.toEqual(before);
  const few = await look(`cd a; rm -rf ${others}`);
  write('anywhere/at/all.txt');
  expect(await look(`cd a; rm -rf ${others}`)).toEqual(few);
});

test('a yes for one place is none for another that a link leads to by then', async () => {
  const same = { '.idea/there': 'same', '.git/hooks/there': 'same' };
  await using ws = await tempWorkspace({ files: same });
  symlinkSync('.idea', ws.file('d'));
  const { call } = createToolwright({
    tools: builtInTools,
    world: ws.workspace,
    fingerprinter: createFingerprinter(ws.workspace),
    approver() {
      execFileSync('ln', ['-sfn', '.git/hooks', ws.file('d')]);
      return { approved: true };
    },
  });
  for (const path of ['d/new', 'd/there']) {
    execFileSync('ln', ['-sfn', '.idea', ws.file('d')]);
    expect((await call('write_file', { path, content: 'x' })).error?.code, path).toBe('APPROVAL_DENIED');
  }
  expect(readdirSync(ws.file('.git/hooks'))).toEqual(['there']);
  expect(readFileSync(ws.file('.git/hooks/there'), 'utf8')).toBe('same');
});

test.each([
  ['cat *.zz | sh', 'l.zz', 'led-to/real', 'led-to/real'],
  ['sh in*/by-link.sh', 'in-1', 'led-to', 'led-to/by-link.sh'],
  ['sh on*/way*/by-link.sh', 'on/way-1', '../led-to/far', 'led-to/far/by-link.sh'],
  ['sh {on-a,on-b/c}/by-link.sh', 'on-a', 'led-to', 'led-to/by-link.sh'],
])('a link that a pattern matches is bound to what it leads to: %s', async (command, link, to, changed) => {
  write(changed);
  mkdirSync(dirname(join(root, link)), { recursive: true });
  symlinkSync(to, join(root, link));
  const before = await look(command);
  write('unrelated/thing.txt');
  expect(await look(command)).toEqual(before);
  write(changed);
  expect(await look(command)).not.toEqual(before);
});

test('more links than can be followed bind to all that is there', async () => {
  mkdirSync(join(root, 'links'));
  write('led-to/many');
  for (let at = 0; at < 300; at++) symlinkSync('../led-to/many', join(root, `links/${at}`));
  symlinkSync('.', join(root, 'links/round'));
  const before = await look('cat links/*/*/*/*/1*');
  write('led-to/many');
  expect(await look('cat links/*/*/*/*/1*')).not.toEqual(before);
});

test('what is in a folder is known by more than its size and time', async () => {
  const put = (text: string) => {
    writeFileSync(join(root, 'timed/a.sh'), text);
    utimesSync(join(root, 'timed/a.sh'), 1_600_000_000, 1_600_000_000);
  };
  mkdirSync(join(root, 'timed'));
  put('echo good');
  const before = await look('find timed -name a.sh -exec sh {} +');
  put('echo evil');
  expect(await look('find timed -name a.sh -exec sh {} +')).not.toEqual(before);
});

test('a file that is too large to be hashed is known by its time as well', async () => {
  write('large.bin');
  truncateSync(join(root, 'large.bin'), 17 * 1024 * 1024);
  const before = await look('cat large.bin');
  expect(await look('cat large.bin')).toEqual(before);
  utimesSync(join(root, 'large.bin'), 1_600_000_000, 1_600_000_000);
  expect(await look('cat large.bin')).not.toEqual(before);
});
