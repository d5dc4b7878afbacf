import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Journal } from '../../src/workspace/journal/journal.ts';
import { openWorkspace } from '../../src/workspace/open-workspace.ts';

/** Starts a process that changes files without end, kills it, opens the workspace again, and tells what is wrong. */
export async function crashOnce(top: string, afterMs: number): Promise<string[]> {
  const [root, journal] = [join(top, 'ws'), join(top, 'journal')];
  rmSync(top, { recursive: true, force: true });
  mkdirSync(join(root, 'tree/deep'), { recursive: true });
  for (const [path, content] of Object.entries(START)) writeFileSync(join(root, path), content);
  const child = fork(join(import.meta.dirname, 'write-files-program.mjs'), [root, journal], { execArgv: [] });
  if (!(await ready(child))) return ['the writer never started'];
  await new Promise((resolve) => setTimeout(resolve, afterMs));
  child.kill('SIGKILL');
  await new Promise((resolve) => child.once('exit', resolve));
  const again = await openWorkspace({ root, journal: { folder: journal } });
  again.close();
  return problems(root, journal);
}

const START = {
  'big.txt': 'A'.repeat(1_000_000),
  'small.txt': 'x end',
  'here.txt': 'H'.repeat(3000),
  'one.txt': '0\n',
  'two.txt': '0\n',
  'tree/deep/leaf.txt': 'leaf',
};

function ready(child: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    child.once('message', () => resolve(true));
    child.once('exit', () => resolve(false));
  });
}

async function problems(root: string, journal: string): Promise<string[]> {
  const found: string[] = [];
  const text = (path: string) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : null);
  const expect = (holds: boolean, what: string) => {
    if (!holds) found.push(what);
  };
  expect(/^(.)\1{999999}$/.test(text('big.txt') ?? ''), 'big.txt is torn');
  expect(/^xx? end[a-z]?$/.test(text('small.txt') ?? ''), `small.txt is torn: ${text('small.txt')}`);
  const places = ['here.txt', 'sub/there.txt'].map(text).filter((content) => content !== null);
  expect(places.length === 1 && places[0] === START['here.txt'], `the moved file is at ${places.length} places`);
  const trees = ['tree', 'sub/tree'].filter((path) => existsSync(join(root, path)));
  expect(
    trees.length === 1 && text(`${trees[0]}/deep/leaf.txt`) === 'leaf',
    `the moved folder is at ${trees.join(', ')}`,
  );
  expect(text('one.txt') === text('two.txt'), `a patch was applied by half: ${text('one.txt')} and ${text('two.txt')}`);
  for (const path of await readdir(root, { recursive: true })) {
    expect(!path.includes('.toolwright-'), `${path} was left behind`);
    if (/^made\/.\/new\.txt$/.test(path)) expect(/^(.)\1{4999}$/.test(text(path) ?? ''), `${path} is torn`);
  }
  const unfinished = new Journal({ folder: journal }).unfinished(root);
  expect(unfinished.length === 0, 'the journal has unfinished business');
  return found;
}
