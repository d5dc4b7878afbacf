import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { tempWorkspace } from '../../testing/temp-workspace.ts';
import { applyEdits } from '../../tools/fs/apply-edits.ts';
import { decodeText, encodeText } from '../read/decode-text.ts';

const ENDINGS = ['\n', '\r\n', '\r', '\n\n', ''];
const WORDS: Record<string, string[]> = {
  'utf-8': ['word', 'größe', '漢字', '😀', '\t', '$&', '  '],
  'utf-16le': ['wide', 'größe', '漢字', '😀'],
  'utf-16be': ['wide', 'größe', '漢字'],
  gb18030: ['中文', '测试', '编码', 'abc', '你好世界', '文件内容'],
  shift_jis: ['日本語', 'テスト', 'abc', 'カタカナ', 'ひらがな'],
  latin1: ['café', 'naïve', 'straße', 'über', 'plain'],
};

const piece = (encoding: string) =>
  fc
    .tuple(fc.constantFrom(...(WORDS[encoding] ?? [])), fc.constantFrom(...ENDINGS))
    .map(([word, ending]) => word + ending);

const file = fc.constantFrom(...Object.keys(WORDS)).chain((encoding) =>
  fc.record({
    encoding: fc.constant(encoding),
    bom: encoding.startsWith('utf-16') ? fc.constant(true) : fc.boolean().map((bom) => bom && encoding === 'utf-8'),
    before: fc.array(piece(encoding), { maxLength: 8 }).map((all) => all.join('')),
    after: fc.array(piece(encoding), { maxLength: 8 }).map((all) => all.join('')),
  }),
);

const mark = (encoding: string) => ({ 'utf-8': 'efbbbf', 'utf-16le': 'fffe', 'utf-16be': 'feff' })[encoding] ?? '';

test('10,000 random files in six encodings: an edit changes its own bytes and no others, or is refused', async () => {
  let made = 0;
  await fc.assert(
    fc.asyncProperty(file, async ({ encoding, bom, before, after }) => {
      const start = Buffer.concat([Buffer.from(bom ? mark(encoding) : '', 'hex'), iconv.encode(before, encoding)]);
      const end = iconv.encode(after, encoding);
      const bytes = Buffer.concat([start, iconv.encode('NEEDLE', encoding), end]);
      const decoded = decodeText(bytes);
      if (!decoded.ok || decoded.value === null) return;
      const edited = await applyEdits(decoded.value.text, [{ old: 'NEEDLE', new: 'found', replaceAll: false }], 'f');
      if (!edited.ok) return;
      const written = encodeText(edited.value.text, decoded.value);
      if (!written.ok) return;
      const middle = decoded.value.encoding === encoding ? iconv.encode('found', encoding) : Buffer.from('found');
      expect(written.value.equals(Buffer.concat([start, middle, end]))).toBe(true);
      made++;
    }),
    { numRuns: 10_000, seed: 7 },
  );
  expect(made).toBeGreaterThan(9000);
}, 60_000);

test('random bytes are never changed by reading, and either edited exactly or refused', async () => {
  await using ws = await tempWorkspace();
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 200 }), async (head, tail) => {
      const bytes = Buffer.concat([head, Buffer.from('NEEDLE'), tail]);
      writeFileSync(ws.file('f'), bytes);
      await ws.call('read_file', { path: 'f' });
      expect(readFileSync(ws.file('f')).equals(bytes)).toBe(true);
      const edited = await ws.call('edit_file', { path: 'f', edits: [{ old: 'NEEDLE', new: 'found' }] });
      const expected = edited.ok ? Buffer.concat([head, Buffer.from('found'), tail]) : bytes;
      expect(readFileSync(ws.file('f')).equals(expected)).toBe(true);
    }),
    { numRuns: 300, seed: 11 },
  );
}, 60_000);

test.each(['utf-8', 'utf-16le', 'utf-16be'])(
  'of two byte order marks in %s both stay, whichever tool changes the file',
  async (encoding) => {
    const bytes = (text: string) => iconv.encode(`\ufeff\ufeff${text}`, encoding);
    await using ws = await tempWorkspace({ files: { f: bytes('one\ntwo\n') } });
    await ws.call('edit_file', { path: 'f', edits: [{ old: 'two', new: 'three' }] });
    expect(readFileSync(ws.file('f'))).toEqual(bytes('one\nthree\n'));
    const patch = (file: string, lines: string) =>
      ws.call('apply_patch', { patch: `*** Begin Patch\n*** Update File: ${file}\n@@\n${lines}\n*** End Patch\n` });
    await patch('f\n*** Move to: g', '-three\n+four');
    expect(readFileSync(ws.file('g'))).toEqual(bytes('one\nfour\n'));
    await patch('g', '-four\n+five');
    expect(readFileSync(ws.file('g'))).toEqual(bytes('one\nfive\n'));
  },
);
