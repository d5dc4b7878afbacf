import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeTree, openComparison, type PlainComparison } from './compare-with-plain.ts';
import { generateScripts, START_TREE } from './generate-scripts.ts';

const SCRIPTS = 100;
const SEED = 26;

test(`${SCRIPTS} generated scripts leave the same tree as without a stage, and an undo the tree before`, {
  timeout: 300_000,
}, async () => {
  const lane = async (first: number) => {
    await using comparison = await openComparison((root) => makeTree(root, START_TREE));
    const wrong: string[] = [];
    for (const [index, script] of generateScripts(SCRIPTS, SEED).entries()) {
      if (index % 2 !== first) continue;
      const differences = await comparison.differences(script);
      if (differences.length > 0) wrong.push(`script ${index} of seed ${SEED}:\n${script}\n${differences.join('\n')}`);
    }
    return wrong;
  };
  expect((await Promise.all([lane(0), lane(1)])).flat()).toEqual([]);
});

const PYTHON = {
  install: `
import os
for p in range(100):
  d = 'node_modules/pkg%d/lib' % p
  os.makedirs(d)
  for f in range(19): open(d + '/f%d.js' % f, 'w').write('module.exports=%d;\\n' % f * 20)
  open('node_modules/pkg%d/package.json' % p, 'w').write('{}')
os.makedirs('node_modules/.bin')
os.symlink('../pkg1/lib/f1.js', 'node_modules/.bin/x')`,
  database: `
import sqlite3
c = sqlite3.connect('data.db')
c.execute('create table t(a int, b text)')
c.executemany('insert into t values(?,?)', [(i, 'v%d' % i) for i in range(5000)])
c.commit()`,
  rollback: `
import sqlite3
c = sqlite3.connect('data.db')
c.execute("update t set b='new' where a%2=0"); c.commit()
c.execute("insert into t values(9,'nine')"); c.commit()`,
  wal: `
import sqlite3
c = sqlite3.connect('data.db')
c.execute('pragma journal_mode=wal'); c.execute('delete from t where a<100'); c.commit(); c.close()`,
  files: `
import os, json
os.makedirs('out/a/b')
json.dump({'x': 1}, open('out/a/b/r.json', 'w'))
os.remove('run.sh')
open('README.md', 'a').write('more')
os.chmod('ro.txt', 0o600)`,
};
const DATE = '2026-01-01T00:00:00Z';
const DATED = `export GIT_AUTHOR_DATE=${DATE} GIT_COMMITTER_DATE=${DATE};`;

const CASES = {
  'sed -i on 100 files': "find src -name 'f1*.ts' | sort | head -100 | xargs sed -i s/foo/bar/",
  '2,000 new files, as npm makes them': python(PYTHON.install),
  'git commit': `${DATED} echo more >>README.md && git add -A && git commit -qm second`,
  'a branch with a commit': `${DATED} git checkout -qb f && echo z >z.txt && git add z.txt && git commit -qm z && git checkout -q main`,
  'git stash': `${DATED} echo dirty >>README.md && git stash -q`,
  'git gc': 'git gc -q --prune=now',
  'an orphan branch': `${DATED} git checkout -q --orphan other && git rm -rqf . && echo only >only.txt && git add . && git commit -qm orphan`,
  'sqlite with a rollback journal': python(PYTHON.rollback),
  'sqlite with a write-ahead log': python(PYTHON.wal),
  'rm -rf src': 'rm -rf src',
  'mv of a folder': 'mv src lib',
  'a folder moved by Python': python("\nimport shutil\nshutil.move('old', 'newer')"),
  'a script of Python': python(PYTHON.files),
  'a folder deleted and made again': 'rm -rf old && mkdir old && echo n >old/n.txt',
  'file to folder, folder to file, another target':
    'rm README.md && mkdir README.md && echo i >README.md/in; rm -rf old && echo f >old; ln -sfn run.sh link.md',
  'two files swapped': 'mv README.md t && mv run.sh README.md && mv t run.sh',
  'new times only': 'touch README.md src',
  'permissions of a folder and a file': 'chmod 700 old && chmod +x README.md',
  'odd names': `mkdir 'a b' && echo 1 >'a b/ü,:\\x' && echo 2 >$'new\\nline' && rm -rf old/sub`,
  'empty folders': 'mkdir -p e/f/g && rmdir old/sub 2>/dev/null; true',
  'tar out and in': 'tar cf t.tar --mtime=@0 src/p0 && rm -rf src/p0 && tar xf t.tar && rm t.tar',
  'cp -a, then the original deleted': 'cp -a old old2 && rm -r old',
  nothing: 'ls -R >/dev/null; git status --short >/dev/null; cat README.md >/dev/null',
  'appended to 500 files': 'for f in $(find src -name "f[23].ts" | sort | head -500); do echo x >>$f; done',
  '64 MB': 'dd if=/dev/zero of=big.bin bs=1M count=64 status=none',
};

describe('a command in a stage leaves what it leaves without one', () => {
  let comparison: PlainComparison;
  beforeAll(async () => {
    comparison = await openComparison(makeProject);
  });
  afterAll(() => comparison[Symbol.asyncDispose]());

  test.each(Object.entries(CASES))('%s', { timeout: 120_000 }, async (_name, script) => {
    expect(await comparison.differences(script, { skip: isOfMachine })).toEqual([]);
  });

  test('only a file with two names differs: the other name keeps the old content', async () => {
    const [first] = await comparison.differences('echo more >>hard.md', { skip: isOfMachine });
    expect(first).toBe(String.raw`"two-names.md" kept: file 644 "two\n", plain: file 644 "two\nmore\n"`);
  });
});

/** The index has inode numbers and times of files; packs and their lists differ with the time. */
function isOfMachine(path: string): boolean {
  return path === '.git/index' || path === '.git/objects/info/packs' || path.startsWith('.git/objects/pack/');
}

function makeProject(root: string): void {
  for (let at = 0; at < 100; at++) {
    const folder = join(root, `src/p${at % 20}/m${at}`);
    mkdirSync(folder, { recursive: true });
    for (let file = 0; file < 20; file++) {
      writeFileSync(join(folder, `f${file}.ts`), `export const a${file} = ${at};\n// foo\n`.repeat(10));
    }
  }
  makeTree(root, {
    'README.md': '# hello\n',
    'run.sh': '#!/bin/sh\necho hi\n',
    'two-names.md': 'two\n',
    '.gitignore': 'dist\nnode_modules\n',
    'old/sub/x.txt': 'x\n',
  });
  symlinkSync('README.md', join(root, 'link.md'));
  linkSync(join(root, 'two-names.md'), join(root, 'hard.md'));
  writeFileSync(join(root, 'ro.txt'), 'ro\n', { mode: 0o444 });
  execFileSync('bash', ['-c', python(PYTHON.database)], { cwd: root });
  const git = `git init -q -b main && git config user.name a && git config user.email a@b && git add . && ${DATED} git commit -qm first`;
  execFileSync('bash', ['-c', git], { cwd: root });
}

function python(code: string): string {
  return `python3 - <<'END'${code}\nEND`;
}
