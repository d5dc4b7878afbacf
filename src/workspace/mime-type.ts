const MAGIC: readonly [mimeType: string, offset: number, bytes: string][] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['image/bmp', 0, 'BM'],
  ['application/pdf', 0, '%PDF-'],
  ['application/zip', 0, 'PK\x03\x04'],
  ['application/gzip', 0, '\x1f\x8b'],
  ['application/wasm', 0, '\0asm'],
  ['application/x-executable', 0, '\x7fELF'],
  ['application/vnd.sqlite3', 0, 'SQLite format 3\0'],
];

/** Told from the first bytes, never from the name. */
export function mimeTypeOf(head: Buffer): string {
  const found = MAGIC.find(
    ([, offset, bytes]) => head.subarray(offset, offset + bytes.length).toString('latin1') === bytes,
  );
  return found?.[0] ?? 'application/octet-stream';
}
