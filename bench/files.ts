import {
  appendFileSync,
  closeSync,
  fsyncSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtInTools, createToolwright, openWorkspace, type Toolwright } from '../dist/index.js';
import { atMost, type Benchmark, type Measurement, median, reported, timesTheLimit } from './benchmark.ts';

const MB = 1024 * 1024;

export const benchmark: Benchmark = {
  about: 'Reading the end of small and huge files, atomic writes with the journal on, edits in a large file.',
  async run() {
    const top = mkdtempSync(join(tmpdir(), 'bench-files-'));
    const root = mkdtempSync(join(top, 'ws-'));
    const world = await openWorkspace({ root, journal: { folder: join(top, 'journal') } });
    const toolwright = createToolwright({ tools: builtInTools, world, approver: () => ({ approved: true }) });
    const allowing = { decide: () => ({ verdict: 'allow' as const, rule: 'bench', reason: 'a rule' }) };
    const unasked = createToolwright({ tools: builtInTools, world, policy: allowing });
    try {
      return [
        ...(await writes({ unasked, asked: toolwright }, root)),
        ...(await edits(toolwright, root)),
        ...(await windows(toolwright, root)),
      ];
    } finally {
      world.close();
      rmSync(top, { recursive: true, force: true });
    }
  },
};

/** One sample of each in turn, so that a busy moment of the machine hits all; after a run-up, as a server is warm. */
async function writes(ours: { unasked: Toolwright; asked: Toolwright }, root: string): Promise<Measurement[]> {
  const samples = { over: [], overPlain: [], fresh: [], freshPlain: [], asked: [] } as Record<string, number[]>;
  for (let round = -200; round < 300; round++) {
    const content = `${round} `.repeat(2000).slice(0, 4096);
    const bytes = Buffer.from(content);
    const write = ({ call }: Toolwright, path: string) => call('write_file', { path, content });
    const ways = {
      over: () => write(ours.unasked, 'ours.txt'),
      overPlain: () => fourSteps(root, 'plain.txt', bytes),
      fresh: () => write(ours.unasked, `new/ours${round}.txt`),
      freshPlain: () => fourSteps(root, `plain${round}.txt`, bytes),
      asked: () => write(ours.asked, 'asked.txt'),
    };
    for (const [name, way] of Object.entries(ways)) {
      const time = await milliseconds(way);
      if (round >= 0) samples[name]?.push(time);
    }
  }
  const time = (name: string) => median(samples[name] ?? []);
  return [
    timesTheLimit(
      'write_file of 4 KB over a file, against the four steps in plain Node',
      time('over'),
      time('overPlain'),
      'ms',
      1.5,
    ),
    timesTheLimit('write_file of 4 KB to a new file, against the same', time('fresh'), time('freshPlain'), 'ms', 1.5),
    reported('the same over a file, with a question and its preview', time('asked'), 'ms', time('overPlain')),
  ];
}

/** Temporary file, sync, rename, sync of the folder: the least that a write may do. */
function fourSteps(root: string, name: string, bytes: Buffer): void {
  const temporary = join(root, `${name}.tmp`);
  const fd = openSync(temporary, 'wx');
  writeSync(fd, bytes);
  fsyncSync(fd);
  closeSync(fd);
  renameSync(temporary, join(root, name));
  const folder = openSync(root, 'r');
  fsyncSync(folder);
  closeSync(folder);
}

async function edits({ call }: Toolwright, root: string): Promise<Measurement[]> {
  const line = `${'some text of a log '.repeat(5)}\n`;
  writeFileSync(join(root, 'large.txt'), `${line.repeat(Math.ceil((10 * MB) / line.length))}marker 0\n`);
  const [edit, read]: [number[], number[]] = [[], []];
  for (let round = 0; round < 12; round++) {
    read.push(await milliseconds(() => readFileSync(join(root, 'large.txt'), 'utf8')));
    const change = [{ old: `marker ${round}\n`, new: `marker ${round + 1}\n` }];
    edit.push(await milliseconds(() => call('edit_file', { path: 'large.txt', edits: change })));
  }
  return [atMost('edit_file in a file of 10 MB, above reading it', median(edit) - median(read), 'ms', 100)];
}

async function windows({ call }: Toolwright, root: string): Promise<Measurement[]> {
  const block = `${'a line of some log, with words in it and a number 12345'}\n`.repeat(20_000);
  writeFileSync(join(root, 'small.log'), block.slice(0, 2 * MB));
  for (let size = 0; size < 2048 * MB; size += block.length * 16)
    appendFileSync(join(root, 'huge.log'), block.repeat(16));
  const [small, huge]: [number[], number[]] = [[], []];
  let peak = 0;
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 30; round++) {
    huge.push(await milliseconds(() => call('read_file', { path: 'huge.log', offset: -200 })));
    peak = Math.max(peak, process.memoryUsage().rss - before);
    small.push(await milliseconds(() => call('read_file', { path: 'small.log', offset: -200 })));
  }
  return [
    timesTheLimit('200 lines at the end of 2 GB, against the end of 2 MB', median(huge), median(small), 'ms', 1.5),
    atMost('growth of memory while reading the end of 2 GB', peak / MB, 'MB', 50),
  ];
}

async function milliseconds(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
