import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ok } from '../kernel/result.ts';
import { cutText, truncate } from '../kernel/text/truncate.ts';
import { defineTool } from '../kernel/tool/tool.ts';
import { readOutput } from '../tools/output/read-output.ts';
import { createToolwright } from './create-toolwright.ts';

const HANDLE = 'f'.repeat(64);

describe('cut', () => {
  test('keeps 40 % of head and 60 % of tail on line borders', () => {
    const lines = Array.from({ length: 1000 }, (_, index) => `line ${index}\n`);
    const text = lines.join('');
    const { head, tail, omittedCharacters, omittedLines } = cutText(text, 1000);
    expect(head.length).toBeLessThanOrEqual(400);
    expect(head.length).toBeGreaterThan(380);
    expect(tail.length).toBeLessThanOrEqual(600);
    expect(tail.length).toBeGreaterThan(580);
    expect(head.endsWith('\n')).toBe(true);
    expect(tail.startsWith('line ')).toBe(true);
    expect(omittedCharacters).toBe(text.length - head.length - tail.length);
    expect(omittedLines).toBe(1000 - (head + tail).split('\n').length + 1);
  });

  test('cuts inside a line that is itself too long', () => {
    const { head, tail } = cutText('x'.repeat(10_000), 1000);
    expect(head).toHaveLength(400);
    expect(tail).toHaveLength(600);
  });

  test('never passes the limit, loses nothing, and never halves a character', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', '😀', '中'), minLength: 300, maxLength: 2000 });
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 290 }), (whole, limit) => {
        const { head, tail, omittedCharacters } = cutText(whole, limit);
        expect(head.length + tail.length).toBeLessThanOrEqual(limit);
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(head.length + tail.length + omittedCharacters).toBe(whole.length);
        expect((head + tail).isWellFormed()).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  test('the bounded text keeps the limit with its notice, also when there is hardly room', () => {
    for (const limit of [1, 2, 10, 100, 300, 400, 1000, 5000]) {
      expect(truncate('word 😀\n'.repeat(2000), limit, HANDLE).length).toBeLessThanOrEqual(limit);
    }
  });
});

describe('output beyond the limit', () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `row ${index}`).join('\n');
  const talk = defineTool({ name: 'talk', description: 'T', input: z.object({}), run: () => ok(lines) });
  const table = defineTool({
    name: 'table',
    description: 'T',
    input: z.object({}),
    run: () => ok({ rows: 5000 }),
    render: () => lines,
  });
  const { call } = createToolwright({ tools: [talk, table, readOutput], maxOutputSize: 2000 });

  test('is bounded for the model and kept whole as an artifact', async () => {
    const result = await call('talk');
    expect(result.text.length).toBeLessThanOrEqual(2000);
    expect(result.output).toBe(result.text);
    expect(result.text).toMatch(/^row 0\n/);
    expect(result.text).toMatch(/row 4999$/);
    const artifact = String(result.metadata.artifact);
    expect(result.text).toContain(`the whole output is kept as artifact ${artifact}`);
    expect(result.metadata.truncated).toBe(true);

    const page = await call('read_output', { artifact, offset: 4000, limit: 2 });
    expect(page.text).toBe('row 3999\nrow 4000\n[999 more lines; continue with offset=4002]');
    const end = await call('read_output', { artifact, offset: -2 });
    expect(end.text).toBe('row 4998\nrow 4999');
  });

  test('leaves the value for programs alone when the tool renders its own text', async () => {
    const result = await call('table');
    expect(result.output).toEqual({ rows: 5000 });
    expect(result.text.length).toBeLessThanOrEqual(2000);
  });

  test('is readable to its end, also where one line is longer than the limit', async () => {
    const long = `${'a'.repeat(3000)}MIDDLE${'b'.repeat(2999)}${'😀'.repeat(1000)}`;
    const wide = defineTool({
      name: 'wide',
      description: 'W',
      input: z.object({}),
      run: () => ok(long),
    });
    const { call } = createToolwright({ tools: [wide, readOutput], maxOutputSize: 600 });
    const { metadata } = await call('wide');
    let read = '';
    for (let offset = 1; ; offset++) {
      const page = await call('read_output', { artifact: metadata.artifact, offset, limit: 1 });
      if (!page.ok) break;
      expect([page.metadata.truncated, page.text.isWellFormed()]).toEqual([undefined, true]);
      read += page.text.split('\n[')[0];
    }
    expect(read).toBe(long);
  });

  test('that cannot be kept is cut all the same, and says so', async () => {
    const blobs = { put: () => Promise.reject(new Error('disk full')), get: () => ok(new Uint8Array()) };
    const result = await createToolwright({ tools: [talk], maxOutputSize: 2000, blobs }).call('talk');
    expect(result.ok).toBe(true);
    expect(result.text).toContain('left out here; it could not be kept: disk full');
    expect(result.text.length).toBeLessThanOrEqual(2000);
  });

  test('that was never kept is said so', async () => {
    expect((await call('read_output', { artifact: HANDLE })).error?.code).toBe('FILE_NOT_FOUND');
    expect((await call('read_output', { artifact: '../../etc/passwd' })).error?.message).toBe(
      'Invalid value for artifact: must be the 64 characters from the notice',
    );
    const { metadata } = await call('talk');
    const past = await call('read_output', { artifact: metadata.artifact, offset: 6000 });
    expect(past.error?.message).toBe('The output has only 5000 lines; use an offset up to 5000.');
  });
});
