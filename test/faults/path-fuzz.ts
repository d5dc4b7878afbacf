import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Result } from '../../src/kernel/result.ts';
import type { Files } from '../../src/kernel/world/workspace.ts';
import { openWorkspace, type Workspace } from '../../src/workspace/open-workspace.ts';

export interface FuzzReport {
  readonly cases: number;
  readonly succeeded: number;
  /** Each with the seed and the case, so that it can be made again. */
  readonly escapes: readonly string[];
}

const CASES_PER_LAYOUT = 400;
const NAMES = ['a', 'b', 'c', 'd', 'link', 'up', 'abs', 'dang', 'loop', 'chain', 'f.txt', 'g.txt', 'ünï', 'x y'];
const ODD = [
  '..',
  '.',
  '',
  '~',
  '...',
  '..a',
  '%2e%2e',
  '．．',
  'a\\..\\b',
  '\0',
  'n'.repeat(256),
  '-rf',
  '*',
  '\ud800',
  'CON',
];
const CANARY = 'CANARY-OUTSIDE';

/** Generated paths over generated links, through every operation. Nothing outside may be seen or changed. */
export async function pathFuzz(cases: number, seed: number, parent: string): Promise<FuzzReport> {
  const random = generator(seed);
  const escapes: string[] = [];
  let done = 0;
  let succeeded = 0;
  while (done < cases) {
    const top = mkdtempSync(join(parent, 'path-fuzz-'));
    const workspace = await layOut(top, random);
    const before = snapshot(join(top, 'out'));
    const files = open(workspace);
    const steps: string[] = [];
    for (let step = 0; step < CASES_PER_LAYOUT && done < cases; step++, done++) {
      const { name, run } = operation(files, random, top);
      steps.push(name);
      const result = await run();
      if (result.ok) succeeded++;
      if (result.ok && JSON.stringify(result.value).includes(CANARY))
        escapes.push(`seed ${seed}, case ${done}: ${name} saw outside`);
    }
    if (snapshot(join(top, 'out')) !== before)
      escapes.push(`seed ${seed}, by case ${done}: outside changed by ${steps.join('; ')}`);
    workspace.close();
    rmSync(top, { recursive: true, force: true });
  }
  return { cases: done, succeeded, escapes };
}

async function layOut(top: string, random: Random): Promise<Workspace> {
  const [root, out] = [join(top, 'ws'), join(top, 'out')];
  for (const folder of [root, out, join(top, 'ws-evil'), join(out, 'a'), join(root, 'a/b'), join(root, 'c')])
    mkdirSync(folder, { recursive: true });
  for (const file of ['out/f.txt', 'out/a/f.txt', 'ws-evil/f.txt']) writeFileSync(join(top, file), CANARY);
  writeFileSync(join(out, CANARY), '');
  for (const file of ['f.txt', 'a/f.txt', 'a/b/g.txt', 'c/f.txt']) writeFileSync(join(root, file), 'inside');
  const targets = [
    out,
    `${out}/f.txt`,
    '../out',
    '../out/a',
    '../../out',
    '../../../out/f.txt',
    'a',
    '../a',
    'c/../../out',
    root,
    `${root}/a`,
    `${root}-evil`,
    `${root}/../out`,
    'nowhere',
    `${out}/not-yet`,
    'loop',
    '/proc/self/root',
    '/proc/self/cwd',
    '.',
    '..',
    'link/up',
    '/',
  ];
  for (const folder of ['', 'a', 'a/b', 'c']) {
    for (const name of ['link', 'up', 'abs', 'dang', 'loop', 'chain', 'd']) {
      if (random(3) > 0) symlinkSync(pick(random, targets), join(root, folder, name));
    }
  }
  return openWorkspace({ root });
}

function open(workspace: Workspace): Files {
  const { signal } = new AbortController();
  const admitted = [{ kind: 'unknown' }] as const;
  return workspace.files({
    callId: 'fuzz',
    session: 'fuzz',
    workingDir: workspace.root,
    timeout: 60,
    signal,
    admitted,
  });
}

function operation(files: Files, random: Random, top: string): { name: string; run(): Promise<Result<unknown>> } {
  const [path, other] = [aPath(random, top), aPath(random, top)];
  const window = { offset: 1 - random(3), limit: 10, maxBytes: 1000, maxLineChars: 100 };
  const text = { text: 'written' };
  const all: [string, () => Promise<Result<unknown>>][] = [
    ['read', () => files.readWindow(path, window)],
    ['read text', () => files.readText(path)],
    ['read bytes', () => files.readBytes(path, 1000)],
    ['list', () => files.list(path, { recursive: random(2) === 0, includeHidden: true, limit: 100 })],
    ['write', () => files.apply([{ kind: 'write', path, content: text }])],
    ['delete', () => files.apply([{ kind: 'delete', path, recursive: random(2) === 0 }])],
    ['move', () => files.apply([{ kind: 'move', from: path, to: other, overwrite: random(2) === 0 }])],
    ['rehearse', () => files.rehearse([{ kind: 'write', path, content: text }])],
    ['inspect', async () => files.inspect(path)],
  ];
  const [name, run] = pick(random, all);
  return { name: `${name} ${JSON.stringify(path)}${name === 'move' ? ` ${JSON.stringify(other)}` : ''}`, run };
}

function aPath(random: Random, top: string): string {
  const start = pick(random, [
    '',
    '',
    '',
    '',
    './',
    '/',
    `${top}/ws/`,
    `${top}/out/`,
    `${top}/ws-evil/`,
    '/proc/self/root/',
    '/proc/self/cwd/',
    `${top}/ws/../out/`,
    '//',
  ]);
  const names = Array.from({ length: 1 + random(4) }, () => pick(random, random(6) === 0 ? ODD : NAMES));
  return start + names.join(random(20) === 0 ? '//' : '/') + (random(10) === 0 ? '/' : '');
}

function snapshot(folder: string): string {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .sort()
    .map((name) => {
      const stat = statSync(join(folder, name));
      return `${name} ${stat.mtimeMs} ${stat.mode} ${stat.isFile() ? readFileSync(join(folder, name), 'latin1') : ''}`;
    })
    .join('\n');
}

type Random = (below: number) => number;

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

/** Mulberry32: small, and the same on every machine. */
function generator(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let value = Math.imul(state ^ (state >>> 15), state | 1);
    value ^= value + Math.imul(value ^ (value >>> 7), value | 61);
    return ((value ^ (value >>> 14)) >>> 0) % below;
  };
}
