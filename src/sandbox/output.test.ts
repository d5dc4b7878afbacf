import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import type { OutputChunk } from '../kernel/sandbox.ts';
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

test('streams that take turns are one event each, with the bytes of that stream from the offset on', async () => {
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
  await new Promise((resolve) => setTimeout(resolve, 80));
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

test('a full disk cuts the log, and the counting goes on', () => {
  // Only root can mount a small disk; what others can have is a folder that is gone, below.
  if (process.getuid?.() !== 0) return;
  const small = mkdtempSync(join(tmpdir(), 'output-full-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', small]);
  try {
    const output = createOutput({ folder: small, keepBytes: 1e9, maxBytes: 1e9, onTooMuch: () => {} });
    for (let i = 0; i < 50; i++) output.write('stdout', Buffer.alloc(50_001, String(i % 10)));
    const { stdout, log } = output.finish();
    expect([stdout.totalBytes, log.totalBytes]).toEqual([2_500_050, 2_500_050]);
    expect(log.keptBytes).toBeGreaterThan(256 * 1024);
    expect(log.keptBytes).toBeLessThanOrEqual(1024 * 1024);
    expect(Buffer.from(log.read(50_001, 3)).toString()).toBe('111');
    expect(log.read(0, 2e6).length).toBe(log.keptBytes);
    log.dispose();
  } finally {
    execFileSync('umount', [small]);
    rmSync(small, { recursive: true });
  }
});

test('a spool folder that is gone keeps what is in memory', () => {
  const output = createOutput({ folder: join(folder, 'gone'), keepBytes: 1e9, maxBytes: 1e9, onTooMuch: () => {} });
  for (let i = 0; i < 50; i++) output.write('stderr', Buffer.alloc(10_000, 'x'));
  const { log } = output.finish();
  expect([log.keptBytes, log.totalBytes]).toEqual([260_000, 500_000]);
  expect(log.read(0, 1e6).length).toBe(260_000);
  log.dispose();
});
