import { isNamedSecret } from './hide-secrets.ts';
import { JWT } from './token-shapes.ts';

/** A secret in a text, by its content: the text from `start` up to `end`. */
interface SecretPlace {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const KEY_WORDS = '[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----';
/** Up to its end; without one, the lines that read like a key. */
const KEY_BODY = String.raw`(?:(?:(?!-----BEGIN)[\s\S]){0,20000}?-----END ${KEY_WORDS}|(?:(?:\s|\\n|[+-])*[A-Za-z0-9+/=]{16,})+)`;
/** Shapes that are a secret wherever they stand. */
const SHAPES: readonly (readonly [string, RegExp])[] = [
  ['private key', new RegExp(`-----BEGIN ${KEY_WORDS}${KEY_BODY}`, 'g')],
  ['API key', /\b(?:sk|pk|rk)[-_](?=[A-Za-z_-]{0,24}\d)[A-Za-z0-9_-]{16,}/g],
  ['GitHub token', /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}/g],
  ['GitLab token', /\bglpat-[A-Za-z0-9_-]{16,}/g],
  ['Slack token', /\bxox[abprs]-[A-Za-z0-9-]{10,}/g],
  ['AWS key', /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g],
  ['Google key', /\bAIza[A-Za-z0-9_-]{30,}/g],
  ['npm token', /\bnpm_[A-Za-z0-9]{30,}/g],
  ['JSON web token', new RegExp(JWT, 'g')],
];
const IN_ADDRESS = /:\/\/[^\s/:@"'\\]{0,256}:([^\s/@"'\\]{3,256})@/g;
/** The value is looked at and not passed over: in `.env:TOKEN=…` it is the first part of another. */
const NAMED_VALUE = /(?<![\w.-])([\w.-]{3,64})["']?[ \t]{0,4}[=:][ \t]{0,4}["']?(?=([^\s"'`,;(){}[\]<>$]{8,512}))/g;
/** Bits in a character: below it are words and numbers. */
const MIN_ENTROPY = 2.75;

/** The secrets that a text holds, in the order they begin. Takes time linear in the text. */
export function findSecrets(text: string): readonly SecretPlace[] {
  const found: SecretPlace[] = [];
  for (const [name, shape] of SHAPES) {
    for (const { 0: all, index } of text.matchAll(shape)) found.push({ name, start: index, end: index + all.length });
  }
  for (const { 0: all, 1: password = '', index } of text.matchAll(IN_ADDRESS)) {
    const end = index + all.length - 1;
    found.push({ name: 'password in an address', start: end - password.length, end });
  }
  for (const { 0: all, 1: key = '', 2: value = '', index } of text.matchAll(NAMED_VALUE)) {
    const start = index + all.length;
    if (isNamedSecret(key, value) && isRandom(value)) found.push({ name: key, start, end: start + value.length });
  }
  return found.toSorted((a, b) => a.start - b.start);
}

/** Whether a value is no word, path or expression: it has letters and digits in no order. */
function isRandom(value: string): boolean {
  if (!/\d/.test(value) || !/[A-Za-z]/.test(value) || /^[./]|^sha\d/.test(value)) return false;
  const counts = new Map<string, number>();
  for (const letter of value) counts.set(letter, (counts.get(letter) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits >= MIN_ENTROPY;
}
