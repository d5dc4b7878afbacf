import { isUtf8 } from 'node:buffer';
import { detect } from 'chardet';
import iconv from 'iconv-lite';

const SAMPLE = 64 * 1024;
const META = /<meta[^>]{0,400}?charset\s*=\s*["']?\s*([\w:.-]{2,40})/i;
const XML = /^<\?xml[^>]{0,200}encoding\s*=\s*["']([\w:.-]{2,40})["']/i;
/** What browsers read these labels as: pages that say one mostly are the other. */
const READ_AS: Readonly<Record<string, string>> = {
  'iso-8859-1': 'windows-1252',
  latin1: 'windows-1252',
  'us-ascii': 'windows-1252',
  ascii: 'windows-1252',
  gb2312: 'gb18030',
  gbk: 'gb18030',
  'x-sjis': 'shift_jis',
};

export interface DecodedBody {
  readonly text: string;
  readonly charset: string;
}

/** By its mark, the header, the page's own word, or what the bytes look like, in this order. Never fails. */
export function decodeBody(bytes: Uint8Array, contentType: string): DecodedBody {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const marked = byMark(buffer);
  if (marked !== null) return as(buffer, marked);
  const header = known(/charset\s*=\s*"?([\w:.-]{2,40})/i.exec(contentType)?.[1]);
  if (header !== null && !(header === 'utf-8' && !isUtf8(buffer))) return as(buffer, header);
  const head = buffer.subarray(0, 4096).toString('latin1');
  const own = known(XML.exec(head)?.[1] ?? META.exec(head)?.[1]);
  if (own !== null && own !== 'utf-8' && !own.startsWith('utf-16')) return as(buffer, own);
  if (isUtf8(buffer)) return as(buffer, 'utf-8');
  return as(buffer, known(detect(buffer.subarray(0, SAMPLE)) ?? undefined) ?? 'windows-1252');
}

function byMark(buffer: Buffer): string | null {
  if (buffer[0] === 0xef && buffer[1] === 0xbb && buffer[2] === 0xbf) return 'utf-8';
  if (buffer[0] === 0xff && buffer[1] === 0xfe) return 'utf-16le';
  return buffer[0] === 0xfe && buffer[1] === 0xff ? 'utf-16be' : null;
}

function known(label: string | undefined): string | null {
  if (label === undefined) return null;
  const lower = label.toLowerCase();
  const name = READ_AS[lower] ?? (lower === 'utf8' ? 'utf-8' : lower);
  return iconv.encodingExists(name) ? name : null;
}

function as(buffer: Buffer, charset: string): DecodedBody {
  const text = charset === 'utf-8' ? buffer.toString('utf8') : iconv.decode(buffer, charset);
  return { text: text.startsWith('\ufeff') ? text.slice(1) : text, charset };
}
