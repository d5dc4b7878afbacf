import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ToolwrightOptions } from '../../src/runtime/create-toolwright.ts';
import { tempWorkspace } from '../../src/testing/temp-workspace.ts';

/** Swaps a folder with a link to the outside, and a file with a link to a file outside, as quickly as it can. */
const SWAPPER = `
import ctypes, os, sys
root, out = sys.argv[1], sys.argv[2]
os.chdir(root)
os.symlink(out, 'race.link')
os.symlink(out + '/secret.txt', 'leaf.link')
libc = ctypes.CDLL(None)
print('ready', flush=True)
while True:
    for name in (b'race', b'leaf'):
        libc.renameat2(-100, name, -100, name + b'.link', 2)
`;

export interface RaceReport {
  readonly rounds: number;
  readonly succeeded: number;
  readonly escapes: readonly string[];
}

/** Reads, writes, deletes, lists and searches while links are swapped below the call. */
export async function linkRaces(rounds: number): Promise<RaceReport> {
  await using ws = await tempWorkspace({ files: { 'race/f.txt': 'inside', leaf: 'inside' } });
  writeFileSync(`${ws.outside}/secret.txt`, 'CANARY-OUT');
  writeFileSync(`${ws.outside}/f.txt`, 'CANARY-OUT');
  const swapper = spawn('python3', ['-c', SWAPPER, ws.root, ws.outside], { stdio: ['ignore', 'pipe', 'ignore'] });
  await started(swapper);
  const escapes = new Set<string>();
  let succeeded = 0;
  for (let round = 0; round < rounds; round++) {
    const calls = [
      ['read_file', { path: 'race/f.txt' }],
      ['read_file', { path: 'leaf' }],
      ['write_file', { path: 'race/f.txt', content: `inside ${round}` }],
      ['write_file', { path: `race/new${round}.txt`, content: 'x' }],
      ['write_file', { path: 'leaf', content: 'inside' }],
      ['delete_file', { path: `race/new${round}.txt` }],
      ['list_directory', { path: 'race' }],
      ...(round % 20 === 0 ? [['grep', { pattern: 'CANARY' }] as const] : []),
    ] as const;
    for (const [tool, args] of calls) {
      const result = await ws.call(tool, args);
      if (result.ok) succeeded++;
      if (tool !== 'grep' && JSON.stringify(result).includes('CANARY')) escapes.add(`${tool} saw outside`);
      if (tool === 'grep' && JSON.stringify(result.value ?? '').includes('CANARY-OUT')) escapes.add('grep saw outside');
    }
    const names = readdirSync(ws.outside).sort().join();
    if (names !== 'f.txt,secret.txt') escapes.add(`outside holds ${names}`);
    for (const name of ['f.txt', 'secret.txt']) {
      const path = `${ws.outside}/${name}`;
      if (!existsSync(path) || readFileSync(path, 'utf8') !== 'CANARY-OUT') escapes.add(`${name} outside was changed`);
    }
  }
  await stopped(swapper);
  return { rounds, succeeded, escapes: [...escapes] };
}

/** Replaces the file by rename, as editors do, each time with a line more. Prints how often it did. */
const EDITOR = `
import os, sys, time
path, rounds = sys.argv[1], int(sys.argv[2])
print('ready', flush=True)
for n in range(rounds):
    text = open(path).read()
    with open(path + '.swp', 'w') as f: f.write(text + 'editor %d\\n' % n)
    os.rename(path + '.swp', path)
    time.sleep(0.002)
`;

export interface WritersReport {
  readonly made: number;
  /** Why the others did not run. */
  readonly refused: readonly string[];
  /** Edits that were said to be made and are not there at the end. */
  readonly lost: readonly string[];
}

/** Two sessions that edit the same file at once. */
export async function twoWriters(rounds: number, options: ToolwrightOptions = {}): Promise<WritersReport> {
  await using ws = await tempWorkspace({ files: { 'n.md': 'start\n' }, options });
  const made: string[] = [];
  const refused: string[] = [];
  const writer = async (name: string) => {
    const context = { workingDir: ws.root, sessionId: name };
    for (let round = 0; round < rounds; round++) {
      const line = `${name} ${round}\n`;
      const edits = [{ old: 'start\n', new: `start\n${line}` }];
      const result = await ws.toolwright.executor.execute('edit_file', context, { path: 'n.md', edits });
      if (result.ok) made.push(line);
      else refused.push(result.error.message);
    }
  };
  await Promise.all([writer('one'), writer('two')]);
  const text = readFileSync(ws.file('n.md'), 'utf8');
  return { made: made.length, refused, lost: made.filter((line) => !text.includes(line)) };
}

export interface EditorReport {
  readonly written: number;
  readonly refused: number;
  /** Lines of the editor that one of our writes hid: it replaced the file between our last look and our rename. */
  readonly hidden: number;
  /** Answers that are neither a success nor a CONFLICT. */
  readonly odd: readonly string[];
}

/** A session that writes with the version it read, and an editor that replaces the file every few milliseconds. */
export async function outsideEditor(rounds: number): Promise<EditorReport> {
  await using ws = await tempWorkspace({ files: { 'n.md': 'start\n' } });
  const args = ['-c', EDITOR, ws.file('n.md'), String(rounds)];
  const editor = spawn('python3', args, { stdio: ['ignore', 'pipe', 'ignore'] });
  await started(editor);
  const odd: string[] = [];
  let [written, refused] = [0, 0];
  while (editor.exitCode === null) {
    const read = await ws.call('read_file', { path: 'n.md', encoding: 'base64' });
    if (!read.ok) continue;
    const { content, version } = read.value as { content: string; version: string };
    const text = `${Buffer.from(content, 'base64').toString()}tool\n`;
    const result = await ws.call('write_file', { path: 'n.md', content: text, version });
    if (result.ok) written++;
    else refused++;
    if (!result.ok && result.error.code !== 'CONFLICT') odd.push(`${result.error.code}: ${result.error.message}`);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  // The editor keeps every line it finds, so a line of its own that is missing was hidden by one of our writes.
  const text = readFileSync(ws.file('n.md'), 'utf8');
  const hidden = Array.from({ length: rounds }, (_, round) => `editor ${round}\n`).filter(
    (line) => !text.includes(line),
  );
  return { written, refused, hidden: hidden.length, odd };
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => child.stdout?.once('data', () => resolve()));
}

function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return Promise.reject(new Error('the other side ended by itself'));
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGKILL');
  return gone;
}
