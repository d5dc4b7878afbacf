import { isUtf8 } from 'node:buffer';
import { createRequire } from 'node:module';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { TextForm } from '../../kernel/world/workspace.ts';

export interface DecodedText extends TextForm {
  readonly text: string;
}

/** Encodings that are guessed. Every guess must give back exactly the bytes it was made from. */
const GUESSED: Readonly<Record<string, string>> = {
  GB18030: 'gb18030',
  Big5: 'big5',
  Shift_JIS: 'shift_jis',
  'EUC-JP': 'euc-jp',
  'EUC-KR': 'euc-kr',
  'KOI8-R': 'koi8-r',
  'ISO-8859-1': 'latin1',
  'ISO-8859-2': 'iso-8859-2',
  'ISO-8859-5': 'iso-8859-5',
  'ISO-8859-7': 'iso-8859-7',
  'ISO-8859-9': 'iso-8859-9',
  'windows-1250': 'windows-1250',
  'windows-1251': 'windows-1251',
  'windows-1252': 'windows-1252',
  'windows-1253': 'windows-1253',
  'windows-1254': 'windows-1254',
};
const BOMS: readonly [encoding: string, bytes: readonly number[]][] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
];
const SAMPLE_BYTES = 64 * 1024;

// Loaded when the first text comes that is not UTF-8: their tables are large.
const require = createRequire(import.meta.url);
const iconv = () => require('iconv-lite') as typeof import('iconv-lite');
const chardet = () => require('chardet') as typeof import('chardet');

/** Null when it is not text. A failure when it is text that cannot be read without loss. */
export function decodeText(bytes: Buffer): Result<DecodedText | null> {
  const marked = BOMS.find(([, bom]) => bom.every((byte, index) => bytes[index] === byte));
  if (marked !== undefined) return decodeMarked(bytes, marked[0], marked[1].length);
  if (isBinary(bytes)) return ok(null);
  if (isUtf8(bytes)) return ok({ text: bytes.toString('utf8'), encoding: 'utf-8', bom: false });
  return decodeGuessed(bytes);
}

/** The encoding of a large file, told from its beginning. Null when it is not text. */
export function sniffEncoding(head: Buffer): Result<TextForm | null> {
  const end = head.length < SAMPLE_BYTES ? head.length : head.lastIndexOf(0x0a) + 1 || head.length;
  const decoded = decodeText(withoutCutCharacter(head.subarray(0, end)));
  return decoded.ok && decoded.value !== null
    ? ok({ encoding: decoded.value.encoding, bom: decoded.value.bom })
    : decoded;
}

export function decodeAs(bytes: Buffer, encoding: string): string {
  return encoding === 'utf-8' ? bytes.toString('utf8') : iconv().decode(bytes, encoding, { stripBOM: false });
}

/** INVALID_INPUT when the encoding has no way to write a character: nothing is replaced by a question mark. */
export function encodeText(text: string, { encoding, bom }: TextForm): Result<Buffer> {
  const bytes = encoding === 'utf-8' ? Buffer.from(text, 'utf8') : iconv().encode(text, encoding);
  // UTF-8 has no way to write half a character, and one for everything else.
  const isWhole = encoding === 'utf-8' ? text.isWellFormed() : decodeAs(bytes, encoding) === text;
  if (!isWhole) return unrepresentable(text, encoding);
  const mark = bom ? BOMS.find(([name]) => name === encoding)?.[1] : undefined;
  return ok(mark === undefined ? bytes : Buffer.concat([Buffer.from(mark), bytes]));
}

function decodeMarked(bytes: Buffer, encoding: string, length: number): Result<DecodedText> {
  const text = decodeAs(bytes.subarray(length), encoding);
  const again = encodeText(text, { encoding, bom: true });
  if (again.ok && again.value.equals(bytes)) return ok({ text, encoding, bom: true });
  return undecodable(`it starts as ${encoding}, but holds bytes that are not`);
}

function decodeGuessed(bytes: Buffer): Result<DecodedText> {
  if (isBrokenUtf8(bytes)) return undecodable('it is UTF-8 with broken bytes in it');
  for (const { name } of chardet().analyse(bytes.subarray(0, SAMPLE_BYTES))) {
    const encoding = GUESSED[name];
    if (encoding === undefined) continue;
    const text = iconv().decode(bytes, encoding);
    if (iconv().encode(text, encoding).equals(bytes)) return ok({ text, encoding, bom: false });
  }
  return undecodable('its encoding is not known');
}

function isBinary(bytes: Buffer): boolean {
  if (bytes.includes(0)) return true;
  const sample = bytes.toString('latin1', 0, 4096);
  return CONTROL.test(sample) && (sample.match(CONTROLS)?.length ?? 0) * 20 > sample.length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const CONTROL = /[\x00-\x06\x0e-\x1a\x1c-\x1f]/;
const CONTROLS = new RegExp(CONTROL, 'g');

/** More good characters than broken ones: guessing another encoding would garble the good ones. */
function isBrokenUtf8(bytes: Buffer): boolean {
  const text = bytes.subarray(0, SAMPLE_BYTES).toString('utf8');
  let good = 0;
  let broken = 0;
  for (const character of text) {
    if (character === '\ufffd') broken++;
    else if (character > '\x7f') good++;
  }
  return good > broken;
}

/** At most three bytes: the end of a sample may stand in the middle of a UTF-8 character. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  for (let cut = 0; cut < 4 && cut < bytes.length; cut++) {
    const shorter = bytes.subarray(0, bytes.length - cut);
    if (isUtf8(shorter)) return shorter;
  }
  return bytes;
}

function undecodable(why: string): Result<never> {
  return fail('INVALID_INPUT', `It is not text that can be shown: ${why}. Read it with encoding base64.`);
}

function unrepresentable(text: string, encoding: string): Result<never> {
  const lost = [...text].find((character) => decodeAs(iconv().encode(character, encoding), encoding) !== character);
  const shown = lost === undefined || /\p{Surrogate}/u.test(lost) ? 'half a character' : `'${lost}'`;
  return fail('INVALID_INPUT', `The text holds ${shown}, which ${encoding} cannot write; nothing was changed.`, {
    encoding,
  });
}
