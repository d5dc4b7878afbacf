import { hash } from 'node:crypto';

/** Only files of this name are taken for one. */
export const INDEX_NAME = 'index';
const MAX_BYTES = 16 * 1024 * 1024;
const HEADER_BYTES = 12;
/** Extensions with nothing but a memory of files and trees, which git fills again by itself. */
const CACHES = new Set(['TREE', 'UNTR', 'FSMN', 'EOIE', 'IEOT']);
const ID_BYTES = { sha1: 20, sha256: 32 };

/**
 * All that an index of git says: its entries and what it stages, without the times and sizes of files, the caches and the
 * checksum, which every `git status` may renew. Null for bytes that are not an index in every respect.
 */
export function indexContent(bytes: Buffer): Buffer | null {
  if (bytes.length > MAX_BYTES || bytes.toString('latin1', 0, 4) !== 'DIRC') return null;
  for (const format of ['sha1', 'sha256'] as const) {
    const idBytes = ID_BYTES[format];
    const end = bytes.length - idBytes;
    if (end < HEADER_BYTES || !hasChecksum(bytes, end, format)) continue;
    const kept = [Buffer.from(format), bytes.subarray(0, HEADER_BYTES)];
    const entriesEnd = keepEntries(bytes.subarray(0, end), idBytes, kept);
    if (entriesEnd !== null && keepExtensions(bytes.subarray(entriesEnd, end), kept)) return Buffer.concat(kept);
  }
  return null;
}

/** Zeros where git was told to write none. */
function hasChecksum(bytes: Buffer, end: number, format: 'sha1' | 'sha256'): boolean {
  const checksum = bytes.toString('hex', end);
  return /^0+$/.test(checksum) || checksum === hash(format, bytes.subarray(0, end), 'hex');
}

/** Keeps of each entry its mode, object, flags and name. Returns where they end; null when one is malformed. */
function keepEntries(bytes: Buffer, idBytes: number, kept: Buffer[]): number | null {
  const version = bytes.readUInt32BE(4);
  if (version < 2 || version > 4) return null;
  let [at, nameLength] = [HEADER_BYTES, 0];
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    const flagsAt = at + 40 + idBytes;
    if (flagsAt + 4 > bytes.length) return null;
    const flags = bytes.readUInt16BE(flagsAt);
    let nameAt = flagsAt + ((flags & 0x4000) === 0 ? 2 : 4);
    let shared = 0;
    if (version === 4) {
      const removed = readVarint(bytes, nameAt);
      if (removed === null || removed.value > nameLength) return null;
      [shared, nameAt] = [nameLength - removed.value, removed.end];
    }
    const nameEnd = bytes.indexOf(0, nameAt);
    nameLength = shared + nameEnd - nameAt;
    if (nameEnd === -1 || (flags & 0xfff) !== Math.min(nameLength, 0xfff)) return null;
    kept.push(bytes.subarray(at + 24, at + 28), bytes.subarray(at + 40, nameEnd + 1));
    at = version === 4 ? nameEnd + 1 : at + Math.ceil((nameEnd + 1 - at) / 8) * 8;
    if (at > bytes.length) return null;
  }
  return at;
}

/** The number of bytes that a name of version 4 takes away from the name before it. */
function readVarint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } | null {
  let value = -1;
  for (let at = start; at < Math.min(bytes.length, start + 4); at++) {
    const byte = bytes[at] as number;
    value = (value + 1) * 128 + (byte & 127);
    if (byte < 128) return { value, end: at + 1 };
  }
  return null;
}

/** False when they are malformed. */
function keepExtensions(bytes: Buffer, kept: Buffer[]): boolean {
  let at = 0;
  while (at + 8 <= bytes.length) {
    const end = at + 8 + bytes.readUInt32BE(at + 4);
    if (end > bytes.length) return false;
    if (!CACHES.has(bytes.toString('latin1', at, at + 4))) kept.push(bytes.subarray(at, end));
    at = end;
  }
  return at === bytes.length;
}
