import { escapeRegex } from '../kernel/text/escape.ts';
import { KEY_BEGIN, KEY_BODY, KEY_END } from './content/private-keys.ts';
import { CONNECTION_STRING, SECRET_SHAPES, type SecretShape } from './secret-shapes.ts';

/** Put in the place of a secret. */
export const HIDDEN = '[redacted]';

/** So much before the body of a key: the end of its first line, headers, and what stands before a line. */
const MAX_BEFORE_BODY = 400;
/** A head without a body, as in a sentence about keys, is none. Without its end a key is hidden to the end of the text. */
const PRIVATE_KEY = `${KEY_BEGIN}(?=[\\s\\S]{0,${MAX_BEFORE_BODY}}?(?<![\\w+/=-])${KEY_BODY})[\\s\\S]*?(?:${KEY_END}|$)`;
/** The beginnings of shapes that begin with no fixed letters: tokens of Telegram and Discord. */
const BEGUN_UNNAMED = String.raw`\d{1,10}(?::[\w-]*)?|[MNO][\w-]{20,}[\w.-]*`;

/** Shapes hidden in records. Words alone are no token: `pk_user_accounts` is a name, so letters without a digit are left alone. */
export const TOKENS = [
  // A text that contains this mark by itself is kept in the vault as well, so that it does not count as lost.
  String.raw`\[redacted\]`,
  PRIVATE_KEY,
  ...SECRET_SHAPES.map(({ source }) => source),
];

/**
 * Shapes hidden in logs and error messages. Wider than those hidden in records: a log may lose text that only looks like a
 * secret, a record may not.
 */
export const LOG_SHAPES = [
  new RegExp(`${KEY_BEGIN}[\\s\\S]*?(?:${KEY_END}|$)`, 'g'),
  /\b(sk|pk|rk)[-_](live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{16,}/g,
  /(?<=:\/\/[^\s:/@]{0,256}:)[^\s/@]{1,256}(?=@)/g,
  // Of a connection string the password is hidden, and which database it was is kept.
  new RegExp(
    SECRET_SHAPES.filter(({ name }) => name !== CONNECTION_STRING)
      .map(({ source }) => source)
      .join('|'),
    'g',
  ),
  /\b(Bearer|Basic)\s+[A-Za-z0-9+/_.~=-]{8,}/gi,
  /(?<=(?:password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key)["']?\s{0,4}[=:]\s{0,4}["']?)[^\s"'&;,]{4,}/gi,
  /(?<=\s(?:-u|--user)[\s=]{1,4}[^\s:]{1,64}:)\S+/g,
];

const KEY = '-----BEGIN ';
const BEGUN_WORD = new RegExp(String.raw`\b(?:${SECRET_SHAPES.flatMap(begunForms).join('|')}|${BEGUN_UNNAMED})$`);
const BEGUN_KEY = new RegExp(
  `${KEY}[A-Z0-9 -]*$|${KEY_BEGIN}(?![\\s\\S]{0,${MAX_BEFORE_BODY}}?(?<![\\w+/=-])${KEY_BODY})[\\s\\S]{0,${MAX_BEFORE_BODY}}$`,
);
/** A longer text after such a beginning has its shape already, or never gets it. */
const MAX_TAIL_LENGTH = 512;

/** Whether a text begins with the head of a private key. */
export function beginsKey(text: string): boolean {
  return WHOLE_HEAD.test(text);
}

const WHOLE_HEAD = new RegExp(`^${KEY_BEGIN}`);

/** The position from which a text may begin one of these values, or a token. The length of the text if there is none. */
export function secretBegins(text: string, values: readonly string[]): number {
  const tail = text.slice(-MAX_TAIL_LENGTH);
  const places = [BEGUN_WORD, BEGUN_KEY].map((shape) => tail.search(shape)).filter((at) => at !== -1);
  const begun = [KEY, ...values].map((value) => lengthBegun(text, value));
  return text.length - Math.max(...places.map((at) => tail.length - at), ...begun);
}

/** How many characters of a value a text ends with, short of the whole value. */
function lengthBegun(text: string, value: string): number {
  for (let length = Math.min(value.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(value.slice(0, length))) return length;
  }
  return 0;
}

function begunForms({ begins, rest = String.raw`[\w.-]*` }: SecretShape): string[] {
  const words = begins.map(escapeRegex);
  return words.length === 0 ? [] : [`(?:${words.join('|')})${rest}`, ...begins.flatMap(beginnings).map(escapeRegex)];
}

function beginnings(word: string): string[] {
  return Array.from({ length: word.length - 1 }, (_, at) => word.slice(0, at + 1));
}
