/** What a body is, told by its bytes first and by its label second: servers mislabel, bytes do not. */
export type BodyKind =
  | { readonly kind: 'html' | 'json' | 'text' | 'pdf' }
  | { readonly kind: 'binary'; readonly type: string };

const SIGNATURES: readonly (readonly [hex: string, type: string, offset?: number])[] = [
  ['89504e470d0a1a0a', 'image/png'],
  ['ffd8ff', 'image/jpeg'],
  ['47494638', 'image/gif'],
  ['57454250', 'image/webp', 8],
  ['00000100', 'image/x-icon'],
  ['504b0304', 'application/zip'],
  ['1f8b08', 'application/gzip'],
  ['425a68', 'application/x-bzip2'],
  ['fd377a585a00', 'application/x-xz'],
  ['28b52ffd', 'application/zstd'],
  ['7f454c46', 'application/x-executable'],
  ['0061736d', 'application/wasm'],
  ['4f676753', 'audio/ogg'],
  ['494433', 'audio/mpeg'],
  ['66747970', 'video/mp4', 4],
  ['1a45dfa3', 'video/webm'],
  ['774f4632', 'font/woff2'],
  ['53514c69746520', 'application/vnd.sqlite3'],
];
const SAMPLE = 4096;

export function bodyKind(bytes: Uint8Array, contentType: string): BodyKind {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const label = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (buffer.subarray(0, 1024).includes('%PDF-')) return { kind: 'pdf' };
  const found = SIGNATURES.find(([hex, , at = 0]) => buffer.subarray(at, at + hex.length / 2).toString('hex') === hex);
  if (found !== undefined) return { kind: 'binary', type: found[1] };
  if (isBinary(buffer, contentType)) return { kind: 'binary', type: binaryLabel(label) };
  const head = buffer.subarray(0, 1024).toString('latin1').replaceAll('\0', '').trimStart().toLowerCase();
  if (/^application\/(.+\+)?json$|^text\/json$/.test(label) || head.startsWith(")]}'")) return { kind: 'json' };
  if (/html/.test(label) || /^<(!doctype html|html|head|body)\b/.test(head)) return { kind: 'html' };
  return { kind: 'text' };
}

function isBinary(buffer: Buffer, contentType: string): boolean {
  const sample = buffer.subarray(0, SAMPLE);
  const isUtf16 = /charset\s*=\s*"?utf-?16/i.test(contentType) || /^(fffe|feff)/.test(sample.toString('hex', 0, 2));
  if (isUtf16) return false;
  if (sample.includes(0)) return true;
  let controls = 0;
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32)) controls++;
  return controls * 20 > sample.length;
}

function binaryLabel(label: string): string {
  return label === '' || label.startsWith('text/') ? 'application/octet-stream' : label;
}
