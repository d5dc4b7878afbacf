import { fork, spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ToolResult } from '../../../src/kernel/tool/tool-result.ts';
import { openWorkspace } from '../../../src/workspace/open-workspace.ts';
import type { AssertFinding } from '../check-asserts.ts';
import { generateInput, openFileWorld } from '../file-world.ts';
import type { Fixture } from '../fixture.ts';
import type { TextCheck } from '../harness.ts';

/** Checks of `text:` asserts for file tools, by class: so that unseen cases of a class are checked too. */
export const FILE_TEXTS: Readonly<Record<string, TextCheck>> = {
  'data.torn-write': tornWrite,
  'data.enospc': fullDisk,
  'data.fsync': syncOrder,
  'data.concurrent-writers': concurrentWriters,
  'data.lost-update': lostUpdate,
  'data.latin1': (fixture) => unlessReplaced(target(fixture)),
  'data.utf16': (fixture) => validUtf16(target(fixture)),
  'data.binary-roundtrip': binaryRoundTrip,
  'data.mode': (fixture) => ((statSync(file(fixture)).mode & 0o777) === 0o755 ? null : 'the mode was lost'),
  'data.symlink-kept': linkKept,
  'data.exdev': noHalfFile,
  'control.consecutive-edits': (_fixture, seen) =>
    results(seen).every(({ ok }) => ok) ? null : 'an own write was called stale',
};

function results(seen: { detail: unknown }): readonly ToolResult[] {
  return (seen.detail as { results: readonly ToolResult[] }).results;
}

function file({ attack, workspace }: Fixture): string {
  return join(workspace, String(attack.input['path'] ?? ''));
}

function target(fixture: Fixture): Buffer {
  return readFileSync(file(fixture));
}

/** A hundred processes are killed while they write; after each the workspace is opened again. */
async function tornWrite(fixture: Fixture): Promise<AssertFinding> {
  const { folder, workspace, attack } = fixture;
  const path = String(attack.input['path']);
  const { content } = generateInput(attack) as { content: string };
  const [old, next] = [readFileSync(file(fixture)), Buffer.from(content)];
  const journal = join(folder, 'state', 'journal');
  const body = join(folder, 'body');
  writeFileSync(body, next);
  for (let round = 0; round < 100; round++) {
    writeFileSync(file(fixture), old);
    const child = fork(join(import.meta.dirname, '../write-file-program.mjs'), [workspace, journal, path, body], {
      execArgv: [],
    });
    await new Promise((resolve) => child.once('message', resolve));
    await new Promise((resolve) => setTimeout(resolve, (round * 37) % 50));
    child.kill('SIGKILL');
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
    (await openWorkspace({ root: workspace, journal: { folder: journal } })).close();
    const now = readFileSync(file(fixture));
    if (!now.equals(old) && !now.equals(next)) return `after kill ${round} the file is torn`;
    const left = readdirSync(workspace).filter((name) => name.endsWith('.tmp'));
    if (left.length > 0) return `after kill ${round} ${left.join()} is left`;
  }
  return null;
}

function fullDisk({ workspace }: Fixture, seen: { detail: unknown }): AssertFinding {
  const [result] = results(seen);
  if (result?.error?.details?.['errno'] !== 'ENOSPC') return 'the error does not say ENOSPC';
  const left = readdirSync(workspace).filter((name) => name.endsWith('.tmp'));
  return left.length === 0 ? null : `${left.join()} is left`;
}

/** Seen with strace in a process of its own. */
function syncOrder({ workspace, folder, attack }: Fixture): AssertFinding {
  const body = join(folder, 'body');
  writeFileSync(body, 'STRACE-CONTENT');
  const args = [
    join(import.meta.dirname, '../write-file-program.mjs'),
    workspace,
    join(folder, 'j2'),
    `st-${attack.input['path']}`,
    body,
  ];
  const traced = spawnSync(
    'strace',
    ['-f', '-e', 'trace=write,pwrite64,fsync,rename,link', process.execPath, ...args],
    { encoding: 'utf8' },
  );
  const steps = traced.stderr
    .split('\n')
    .filter((line) =>
      /write.*STRACE-CONTENT|fsync\(\d+\)\s+= 0|(?:rename|link)\("\/proc\/self\/fd\/\d+\/\.toolwright-/.test(line),
    )
    .map((line) => /(write|fsync|rename|link)/.exec(line)?.[0])
    .join(' ');
  return /^write fsync (rename|link) fsync$/.test(steps)
    ? null
    : `the order was ${steps || traced.stderr.slice(0, 200)}`;
}

async function concurrentWriters(fixture: Fixture): Promise<AssertFinding> {
  const { attack } = fixture;
  const { toolwright, close } = await openFileWorld(fixture, { approve: true });
  const path = String(attack.input['path']);
  const bodies = Array.from(
    { length: Number(attack.input['parallel']) },
    (_, n) => String(n % 10).repeat(1024 * 1024) + n,
  );
  const all = await Promise.all(bodies.map((content) => toolwright.call('write_file', { path, content })));
  await close();
  const odd = all.find(({ error }) => error !== null && error.code !== 'CONFLICT');
  if (odd !== undefined) return `a writer failed: ${odd.text}`;
  return bodies.includes(readFileSync(file(fixture), 'utf8')) ? null : 'the content is none of the bodies';
}

async function lostUpdate(fixture: Fixture): Promise<AssertFinding> {
  const { toolwright, close } = await openFileWorld(fixture, { approve: true });
  const path = String(fixture.attack.input['path']);
  try {
    for (let round = 0; round < 500; round++) {
      writeFileSync(file(fixture), 'a\nb\nc\n');
      const edit = (old: string) => toolwright.call('edit_file', { path, edits: [{ old, new: old.toUpperCase() }] });
      const [first, second] = await Promise.all([edit('a\n'), edit('c\n')]);
      const now = readFileSync(file(fixture), 'utf8');
      if (first.ok && !now.startsWith('A')) return `round ${round}: the first edit was lost`;
      if (second.ok && !now.endsWith('C\n')) return `round ${round}: the second edit was lost`;
    }
    return null;
  } finally {
    await close();
  }
}

function unlessReplaced(bytes: Buffer): AssertFinding {
  if (bytes.includes(Buffer.from([0xef, 0xbf, 0xbd]))) return 'a replacement character was written';
  return bytes.includes(0xe9) ? null : 'byte 0xE9 is gone';
}

function validUtf16(bytes: Buffer): AssertFinding {
  return bytes[0] === 0xff && bytes[1] === 0xfe && bytes.length % 2 === 0 ? null : 'it is no UTF-16 any more';
}

async function binaryRoundTrip(fixture: Fixture, seen: { detail: unknown }): Promise<AssertFinding> {
  const [read] = results(seen);
  const size = String(statSync(file(fixture)).size);
  if (read === undefined || !/binary/i.test(read.text) || !read.text.includes(size))
    return 'it is not reported as binary with its size';
  const before = target(fixture);
  const { toolwright, close } = await openFileWorld(fixture, { approve: true });
  const written = await toolwright.call('write_file', { path: fixture.attack.input['path'], content: read.text });
  await close();
  if (written.ok) return 'the shown text could be written back';
  return target(fixture).equals(before) ? null : 'the file has changed';
}

function linkKept(fixture: Fixture): AssertFinding {
  if (!lstatSync(file(fixture)).isSymbolicLink()) return 'the link was replaced';
  return target(fixture).toString() === fixture.attack.input['content'] ? null : 'its target has other content';
}

function noHalfFile({ attack, workspace }: Fixture, seen: { detail: unknown }): AssertFinding {
  const [from, to] = [join(workspace, String(attack.input['from'])), join(workspace, String(attack.input['to']))];
  const [result] = results(seen);
  const left = readdirSync(join(to, '..')).filter((name) => name.endsWith('.tmp'));
  if (left.length > 0) return `${left.join()} is left`;
  const there = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (result?.ok) return there(to) && !there(from) ? null : 'it is at neither or both places';
  return there(from) && !there(to) ? null : 'the source is gone or half a file remains';
}
