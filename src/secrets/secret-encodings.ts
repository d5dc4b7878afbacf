const MAX_LAYERS = 3;

/**
 * Returns a text in the ways its receiver may read it, in lower case: as it is, without the line breaks and tabs that URLs
 * drop, without signs between letters and digits, and with percent encoding and JSON escapes undone, also one inside the other.
 */
export function decodedForms(text: string): readonly string[] {
  const readings = new Set([text]);
  let at = text.replace(/[\t\r\n]/g, '');
  for (let layer = 0; layer <= MAX_LAYERS; layer++) {
    readings
      .add(at)
      .add(at.replaceAll('+', ' '))
      .add(at.replace(/[:.,;\s-]/g, ''));
    at = withoutEscapes(withoutPercents(at));
  }
  return [...readings].map((each) => each.toLowerCase());
}

/** Returns the ways in which a value may leave, in lower case: those of `printedForms`, backwards, in base32, and in base64 twice. */
export function encodedForms(value: string): readonly string[] {
  const printed = printedForms(value);
  const bytes = Buffer.from(value, 'utf8');
  const once = [bytes.toString('base64'), bytes.toString('base64url')];
  const twice = once.flatMap((each) => [0, 1, 2].flatMap((before) => inBase64(Buffer.from(each), before)));
  const backwards = [...value].reverse().join('');
  return [...printed, ...twice, backwards, inBase32(bytes)].map((each) => each.toLowerCase());
}

/** Returns the halves of a long value: who sends it in pieces sends one of them whole, or most of the value. */
export function halvesOf(value: string): readonly string[] {
  const middle = Math.floor(value.length / 2);
  return middle < MIN_HALF_LENGTH ? [] : [value.slice(0, middle), value.slice(middle)];
}

const MIN_HALF_LENGTH = 12;

/** Returns a value as it is, in base64 at each of the three alignments, and in hex. */
export function printedForms(value: string): readonly string[] {
  const bytes = Buffer.from(value, 'utf8');
  const base64 = [0, 1, 2].flatMap((before) => inBase64(bytes, before));
  const hex = bytes.toString('hex');
  return [value, ...base64, hex, hex.toUpperCase()];
}

/** Keeps only the characters that depend on the value alone, and on nothing before or after it. */
function inBase64(bytes: Buffer, before: number): string[] {
  const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
  const sure = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  return [sure, sure.replaceAll('+', '-').replaceAll('/', '_')];
}

/** Without the last character, which may depend on what comes behind the value. */
function inBase32(bytes: Buffer): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => BASE32[Number.parseInt(five, 2)]).join('');
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Leaves a lone % as it is: it must not keep the others from being decoded. */
function withoutPercents(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'));
}

function withoutEscapes(text: string): string {
  return text
    .replace(/\\u([0-9a-f]{4})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\x([0-9a-f]{2})/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\(["'\\/])/g, '$1');
}
