import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import type { OutputChunk } from '../../kernel/world/sandbox.ts';
import { createOutputFilter } from '../../secrets/output/hide-in-output.ts';
import { createOutput } from './output.ts';

const folder = mkdtempSync(join(tmpdir(), 'output-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const EDGE = 64 * 1024;
const writes = fc.array(
  fc.record({
    stream: fc.constantFrom('stdout' as const, 'stderr' as const),
    size: fc.integer({ min: 1, max: 90_000 }),
  }),
  { maxLength: 12 },
);

test('whatever is written comes back: head, tail, counts, and any window of the log', () => {
  fc.assert(
    fc.property(writes, fc.integer({ min: 0, max: 400_000 }), (sizes, keepBytes) => {
      const output = createOutput({ folder, keepBytes, maxBytes: Number.MAX_SAFE_INTEGER, onTooMuch: () => {} });
      const all: Buffer[] = [];
      const apart = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
      for (const [i, { stream, size }] of sizes.entries()) {
        const bytes = Buffer.alloc(size, `${i}${stream}`);
        output.write(stream, bytes);
        all.push(Buffer.from(bytes));
        apart[stream].push(Buffer.from(bytes));
        bytes.fill(0);
      }
      const { stdout, stderr, log } = output.finish();
      const kept = Buffer.concat(all).subarray(0, keepBytes);
      for (const [captured, parts] of [
        [stdout, apart.stdout],
        [stderr, apart.stderr],
      ] as const) {
        const whole = Buffer.concat(parts);
        expect(captured.totalBytes).toBe(whole.length);
        expect(whole.subarray(0, EDGE).equals(Buffer.from(captured.head))).toBe(true);
        expect(whole.subarray(Math.max(EDGE, whole.length - EDGE)).equals(Buffer.from(captured.tail))).toBe(true);
      }
      expect(kept.equals(Buffer.from(log.read(0, keepBytes + 10)))).toBe(true);
      const middle = Math.floor(kept.length / 2);
      expect(kept.subarray(middle, middle + 99).equals(Buffer.from(log.read(middle, 99)))).toBe(true);
      const both = log.read(0, keepBytes, 'stdout').length + log.read(0, keepBytes, 'stderr').length;
      expect(both).toBe(kept.length);
      log.dispose();
    }),
    { numRuns: 60 },
  );
  expect(readdirSync(folder)).toEqual([]);
});

test('a byte to each stream in turn makes a bounded number of pieces, and none is lost', () => {
  const output = createOutput({ folder, keepBytes: 1e7, maxBytes: 1e9, onTooMuch: () => {} });
  const [a, b] = [Buffer.from('a'), Buffer.from('b')];
  for (let i = 0; i < 300_000; i++) {
    output.write('stdout', a);
    output.write('stderr', b);
  }
  const { log, stderr } = output.finish();
  const pieces = log.pieces();
  expect(pieces.length).toBe(10_000);
  expect(pieces.slice(0, 3).map(({ stream, bytes }) => `${stream} ${bytes}`)).toEqual([
    'stdout a',
    'stderr b',
    'stdout a',
  ]);
  expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).toString()).toBe('ab'.repeat(300_000));
  const apart = log.read(0, log.keptBytes, 'stdout').length + log.read(0, log.keptBytes, 'stderr').length;
  expect([apart, stderr.totalBytes]).toEqual([600_000, 300_000]);
  log.dispose();
});

test('many small writes are one event, and a flood is one with the newest 64 KB', async () => {
  const chunks: OutputChunk[] = [];
  const onOutput = (chunk: OutputChunk) => chunks.push(chunk);
  const output = createOutput({ folder, keepBytes: 1e9, maxBytes: 1e9, onOutput, onTooMuch: () => {} });
  for (let i = 0; i < 1_000; i++) output.write('stdout', Buffer.from('x'));
  await new Promise((resolve) => setTimeout(resolve, 80));
  expect(chunks.map(({ offset, bytes }) => [offset, bytes.length])).toEqual([[0, 1_000]]);
  for (let i = 0; i < 100; i++) output.write('stderr', Buffer.alloc(10_000, String(i % 10)));
  const { log } = output.finish();
  expect(chunks).toHaveLength(2);
  const last = chunks[1];
  expect([last?.stream, last?.bytes.length, (last?.offset ?? 0) + EDGE]).toEqual(['stderr', EDGE, 1_001_000]);
  expect(Buffer.from(log.read(last?.offset ?? 0, EDGE)).equals(Buffer.from(last?.bytes ?? []))).toBe(true);
  log.dispose();
});

test('streams that take turns are sent one after the other, with the bytes of that stream from the offset on', async () => {
  const chunks: OutputChunk[] = [];
  const onOutput = (chunk: OutputChunk) => chunks.push(chunk);
  const output = createOutput({ folder, keepBytes: 1e9, maxBytes: 1e9, onOutput, onTooMuch: () => {} });
  const turns = (size: number) => {
    for (let i = 0; i < 200; i++) {
      output.write('stdout', Buffer.alloc(size, String(i % 10)));
      output.write('stderr', Buffer.alloc(size, String((i + 5) % 10)));
    }
  };
  turns(3);
  await expect.poll(() => chunks.length).toBe(2);
  expect(chunks.map(({ stream, offset, bytes }) => [stream, offset, bytes.length])).toEqual([
    ['stdout', 0, 600],
    ['stderr', 3, 600],
  ]);
  turns(2_000);
  const { log } = output.finish();
  expect(chunks).toHaveLength(4);
  for (const { stream, offset, bytes } of chunks) {
    const logged = log.read(offset, log.keptBytes, stream).subarray(0, bytes.length);
    expect(Buffer.from(logged).equals(Buffer.from(bytes))).toBe(true);
  }
  expect(chunks.slice(2).map(({ bytes }) => bytes.length)).toEqual([EDGE, EDGE]);
  log.dispose();
});

test('a flood on both streams is never more than one event in 50 ms, each of at most 64 KB', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const times: number[] = [];
  const streams = new Set<string>();
  const onOutput = ({ stream, bytes }: OutputChunk) => {
    times.push(Date.now());
    streams.add(stream);
    expect(bytes.length).toBeLessThanOrEqual(EDGE);
  };
  const output = createOutput({ folder, keepBytes: 0, maxBytes: 1e12, onOutput, onTooMuch: () => {} });
  for (let ms = 0; ms < 600; ms++) {
    for (const stream of ['stdout', 'stderr'] as const) output.write(stream, Buffer.alloc(EDGE));
    vi.advanceTimersByTime(1);
  }
  for (const [i, time] of times.slice(1).entries()) expect(time - (times[i] ?? 0)).toBeGreaterThanOrEqual(50);
  expect([times.length, streams.size]).toEqual([12, 2]);
  output.finish().log.dispose();
});

test('a full disk cuts the log, and the counting goes on', () => {
  const small = mkdtempSync(join(tmpdir(), 'output-full-'));
  const program = join(folder, 'full.mts');
  const source = new URL('output.ts', import.meta.url).pathname;
  writeFileSync(
    program,
    `import { createOutput } from '${source}';
const output = createOutput({ folder: '${small}', keepBytes: 1e9, maxBytes: 1e9, onTooMuch: () => {} });
for (let i = 0; i < 50; i++) output.write('stdout', Buffer.alloc(50_001, String(i % 10)));
const { stdout, log } = output.finish();
const [sample, all] = [Buffer.from(log.read(50_001, 3)).toString(), log.read(0, 2e6).length];
console.log(JSON.stringify({ total: stdout.totalBytes, logged: log.totalBytes, kept: log.keptBytes, sample, all }));
`,
  );
  // In a namespace of its own anybody can mount a small disk.
  const mounts = ['--dev-bind', '/', '/', '--size', String(1024 * 1024), '--tmpfs', small];
  const tsx = new URL('../../../node_modules/tsx/dist/loader.mjs', import.meta.url).href;
  const command = [process.execPath, '--import', tsx, program];
  const env = { PATH: process.env['PATH'], TMPDIR: small };
  const said = execFileSync('/usr/bin/bwrap', [...mounts, '--', ...command], { env, encoding: 'utf8' });
  rmSync(small, { recursive: true });
  rmSync(program);
  const { kept, ...rest } = JSON.parse(said);
  expect(rest).toEqual({ total: 2_500_050, logged: 2_500_050, sample: '111', all: kept });
  expect(kept).toBeGreaterThan(256 * 1024);
  expect(kept).toBeLessThanOrEqual(1024 * 1024);
});

test('a log that was disposed of holds no descriptor and reads as empty', () => {
  const descriptors = () => readdirSync('/proc/self/fd').length;
  const before = descriptors();
  const output = createOutput({ folder, keepBytes: 1e9, maxBytes: 1e9, onTooMuch: () => {} });
  for (let i = 0; i < 50; i++) output.write('stdout', Buffer.alloc(10_000, 'x'));
  const { log } = output.finish();
  expect([descriptors(), log.read(0, 10).length]).toEqual([before + 1, 10]);
  log.dispose();
  log.dispose();
  expect([descriptors(), log.read(0, 10).length, readdirSync(folder)]).toEqual([before, 0, []]);
});

test('a spool folder that is gone keeps what is in memory', () => {
  const output = createOutput({ folder: join(folder, 'gone'), keepBytes: 1e9, maxBytes: 1e9, onTooMuch: () => {} });
  for (let i = 0; i < 50; i++) output.write('stderr', Buffer.alloc(10_000, 'x'));
  const { log } = output.finish();
  expect([log.keptBytes, log.totalBytes]).toEqual([260_000, 500_000]);
  expect(log.read(0, 1e6).length).toBe(260_000);
  log.dispose();
});

test('all that is read of an output has passed its filter, also when the log is full', () => {
  const secret = `ghp_${'a1B2'.repeat(9)}`;
  const shown: OutputChunk[] = [];
  const output = createOutput({
    ...{ folder, keepBytes: 2 * EDGE, maxBytes: Number.MAX_SAFE_INTEGER, onTooMuch: () => {} },
    filter: createOutputFilter(),
    onOutput: (chunk) => shown.push(chunk),
  });
  const lines = Buffer.from(`a line with ${secret} in it\n`.repeat(20_000));
  for (let at = 0; at < lines.length; at += 1000) output.write('stdout', lines.subarray(at, at + 1000));
  output.write('stderr', Buffer.from(`and ${secret.slice(0, 20)}`));
  output.write('stderr', Buffer.from(secret.slice(20)));
  const { stdout, stderr, log } = output.finish();
  expect(log.keptBytes).toBe(2 * EDGE);
  const kept = [log.read(0, log.keptBytes), stdout.head, stdout.tail, stderr.head].map(toText);
  for (const text of kept) expect(text).toContain('[secret: GitHub token, sha256:');
  expect([...kept, ...shown.map(({ bytes }) => toText(bytes))].join('\n')).not.toContain('a1B2');
});

const toText = (bytes: Uint8Array) => Buffer.from(bytes).toString();
