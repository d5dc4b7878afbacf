import { wideEncoding } from './decode-body.ts';

/** Kind of a body, by its bytes first and its label second: servers mislabel, bytes do not. */
export type BodyKind =
  | { readonly kind: 'html' | 'json' | 'text' | 'pdf' }
  | { readonly kind: 'binary'; readonly type: string };

/** First bytes in hexadecimal, each long enough that no text begins like it. */
const SIGNATURES: readonly (readonly [begins: RegExp, type: string])[] = [
  [/^89504e470d0a1a0a/, 'image/png'],
  [/^ffd8ff/, 'image/jpeg'],
  [/^47494638(37|39)61/, 'image/gif'],
  [/^52494646.{8}57454250/, 'image/webp'],
  [/^00000100/, 'image/x-icon'],
  [/^504b0304/, 'application/zip'],
  [/^1f8b08/, 'application/gzip'],
  [/^425a683[1-9]314159265359/, 'application/x-bzip2'],
  [/^fd377a585a00/, 'application/x-xz'],
  [/^28b52ffd/, 'application/zstd'],
  [/^7f454c46/, 'application/x-executable'],
  [/^0061736d/, 'application/wasm'],
  [/^4f67675300/, 'audio/ogg'],
  [/^4944330[234]/, 'audio/mpeg'],
  [/^0000.{4}66747970/, 'video/mp4'],
  [/^1a45dfa3/, 'video/webm'],
  [/^774f4632(00010000|4f54544f|74727565)/, 'font/woff2'],
  [/^53514c69746520666f726d6174203300/, 'application/vnd.sqlite3'],
];
const SAMPLE = 4096;

export function bodyKind(bytes: Uint8Array, contentType: string): BodyKind {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const label = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (isPdf(buffer.subarray(0, 1024), label)) return { kind: 'pdf' };
  const beginning = buffer.toString('hex', 0, 16);
  const found = SIGNATURES.find(([begins]) => begins.test(beginning));
  if (found !== undefined) return { kind: 'binary', type: found[1] };
  if (isBinary(buffer, contentType)) return { kind: 'binary', type: binaryLabel(label) };
  const head = buffer
    .subarray(0, 1024)
    .toString('latin1')
    .replaceAll('\0', '')
    .replace(/^(\u00ef\u00bb\u00bf|\u00ff\u00fe|\u00fe\u00ff)/, '')
    .trimStart()
    .toLowerCase();
  if (/^application\/(.+\+)?json$|^text\/json$/.test(label) || head.startsWith(")]}'")) return { kind: 'json' };
  if (/html/.test(label) || /^<(!doctype html|html|head|body)\b/.test(head)) return { kind: 'html' };
  return { kind: 'text' };
}

/** Some PDFs have garbage before their first line; a page that only quotes one has another label. */
function isPdf(head: Buffer, label: string): boolean {
  return label === 'application/pdf'
    ? head.includes('%PDF-')
    : /^(\u00ef\u00bb\u00bf)?\s*%PDF-\d/.test(head.toString('latin1'));
}

function isBinary(buffer: Buffer, contentType: string): boolean {
  const sample = buffer.subarray(0, SAMPLE);
  const isUtf16 = /charset\s*=\s*["']?utf-?16/i.test(contentType) || /^(fffe|feff)/.test(sample.toString('hex', 0, 2));
  if (isUtf16 || wideEncoding(sample) !== null) return false;
  if (sample.includes(0)) return true;
  let controls = 0;
  for (const byte of sample) if (byte < 9 || (byte > 13 && byte < 27) || (byte > 27 && byte < 32)) controls++;
  return controls * 20 > sample.length;
}

/** Keeps only a plain media type, because this label is repeated in our own message. */
function binaryLabel(label: string): string {
  return /^(?!text\/)[a-z]+\/[\w.+-]{1,80}$/.test(label) ? label : 'application/octet-stream';
}
