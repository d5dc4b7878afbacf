import { isUtf8 } from 'node:buffer';
import { analyse } from 'chardet';
import iconv from 'iconv-lite';

const SAMPLE = 64 * 1024;
const META = /<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w:.-]{2,40})/i;
const XML = /^<\?xml[^>]{0,200}encoding\s*=\s*["']([\w:.-]{2,40})["']/i;
/** Below this confidence a guess is not used. */
const SURE = 50;

export interface DecodedBody {
  readonly text: string;
  readonly charset: string;
}

/** Decodes by byte order mark, header, the page's own declaration, or statistics, in this order. Never fails. */
export function decodeBody(bytes: Uint8Array, contentType: string): DecodedBody {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const marked = byMark(buffer);
  if (marked !== null) return as(buffer, marked);
  const header = known(/charset\s*=\s*["']?\s*([\w:.-]{2,40})/i.exec(contentType)?.[1]);
  if (header !== null && !(header === 'utf-8' && !isUtf8(buffer))) return as(buffer, header);
  const wide = wideEncoding(buffer);
  if (wide !== null) return as(buffer, wide);
  const head = buffer.subarray(0, 4096).toString('latin1');
  const own = known(XML.exec(head)?.[1] ?? META.exec(head)?.[1]);
  // A declaration that could be read as ASCII is wrong when it claims UTF-16.
  if (own !== null && own !== 'utf-8' && !own.startsWith('utf-16')) return as(buffer, own);
  if (isUtf8(buffer)) return as(buffer, 'utf-8');
  return as(buffer, guessed(buffer.subarray(0, SAMPLE)));
}

/** Detects UTF-16 without a mark: in text with markup or spaces every other byte is often zero, and no other ever. */
export function wideEncoding(buffer: Buffer): 'utf-16le' | 'utf-16be' | null {
  const sample = buffer.subarray(0, Math.min(buffer.length & ~1, 4096));
  const zeros: [even: number, odd: number] = [0, 0];
  for (const [at, byte] of sample.entries()) {
    if (byte === 0) zeros[at % 2 === 0 ? 0 : 1]++;
    else if (byte < 9 && sample[at ^ 1] === 0) return null;
  }
  const [even, odd] = zeros;
  const many = sample.length / 8;
  if (odd > many && even === 0) return 'utf-16le';
  return even > many && odd === 0 ? 'utf-16be' : null;
}

function byMark(buffer: Buffer): string | null {
  if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) return 'utf-8';
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return 'utf-16le';
  return buffer[0] === 0xfe && buffer[1] === 0xff ? 'utf-16be' : null;
}

/** Resolves a label as browsers do. Labels that are no page encoding, such as UTF-7 and base64, are unknown. */
function known(label: string | undefined): string | null {
  try {
    const name = label === undefined ? '' : new TextDecoder(label).encoding;
    if (name === 'gbk') return 'gb18030';
    return iconv.encodingExists(name) ? name : null;
  } catch {
    return null;
  }
}

function guessed(sample: Buffer): string {
  const [best] = analyse(sample);
  if ((best?.confidence ?? 0) < SURE && isSimplifiedChinese(sample)) return 'gb18030';
  return known(best?.name) ?? 'windows-1252';
}

/**
 * Detects GBK: a few words between markup are too little for statistics, but in GBK they always come in pairs of bytes.
 */
function isSimplifiedChinese(sample: Buffer): boolean {
  let [frequent, pairs] = [0, 0];
  for (let at = 0; at < sample.length - 1; at++) {
    const lead = sample[at] ?? 0;
    if (lead < 0x80) continue;
    const trail = sample[++at] ?? 0;
    if (lead < 0xa1 || lead > 0xf7 || trail < 0xa1) return false;
    pairs++;
    if (lead >= 0xb0 && lead <= 0xd7) frequent++;
  }
  return frequent * 2 > pairs;
}

function as(buffer: Buffer, charset: string): DecodedBody {
  const text = charset === 'utf-8' ? buffer.toString('utf8') : iconv.decode(buffer, charset);
  return { text: text.startsWith('\ufeff') ? text.slice(1) : text, charset };
}
