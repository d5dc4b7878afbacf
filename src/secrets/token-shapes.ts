/** Put in the place of a secret. */
export const HIDDEN = '[redacted]';

/**
 * How many dashes are read ahead. A dash is part of a token and may also stand before one: without a bound, a text of many
 * dashes would be read again from each of them.
 */
const FEW_DASHES = '{0,16}';

/**
 * A token must contain a digit, or two dots. The look-ahead always succeeds at its first try, so that no text is read
 * twice from one position; `(?!\k<digit>)` fails when the group is empty, so the pattern matches only if a digit follows.
 */
const HAS_DIGIT = String.raw`(?=[-_](?:[A-Za-z_]*-)${FEW_DASHES}[A-Za-z_]*(?<digit>\d)?)(?!\k<digit>)`;
const HAS_DOTS = String.raw`(?=(?:\w*-)${FEW_DASHES}\w*(?:\.[\w-]{8,}(?<dot>\.)?)?)(?!\k<dot>)`;

export const JWT = String.raw`\beyJ(?=[\w-]{8})${HAS_DOTS}[\w-]+\.[\w-]+\.[\w-]*`;

/** Shapes hidden in records. Words alone are no token: `pk_user_accounts` is a name, so letters without a digit are left alone. */
export const TOKENS = [
  // A text that contains this mark by itself is kept in the vault as well, so that it does not count as lost.
  String.raw`\[redacted\]`,
  String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`,
  String.raw`\b(?:sk|pk|rk)${HAS_DIGIT}[-_][A-Za-z0-9_-]{16,}`,
  String.raw`\bgh[pousr]_[A-Za-z0-9]{20,}`,
  String.raw`\bgithub_pat_[A-Za-z0-9_]{20,}`,
  String.raw`\bglpat-[A-Za-z0-9_-]{16,}`,
  String.raw`\bxox[abprs]-[A-Za-z0-9-]{10,}`,
  String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
  String.raw`\bAIza[A-Za-z0-9_-]{30,}`,
  String.raw`\bnpm_[A-Za-z0-9]{30,}`,
  JWT,
];

/**
 * Shapes hidden in logs and error messages. Wider than those hidden in records: a log may lose text that only looks like a
 * secret, a record may not.
 */
export const LOG_SHAPES = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(sk|pk|rk)[-_](live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  new RegExp(JWT, 'g'),
  /\b(Bearer|Basic)\s+[A-Za-z0-9+/_.~=-]{8,}/gi,
  /(?<=:\/\/[^\s:/@]{0,256}:)[^\s/@]{1,256}(?=@)/g,
  /(?<=(?:password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key)["']?\s{0,4}[=:]\s{0,4}["']?)[^\s"'&;,]{4,}/gi,
  /(?<=\s(?:-u|--user)[\s=]{1,4}[^\s:]{1,64}:)\S+/g,
];

/** The beginnings of the shapes above. */
const PREFIXES =
  'sk- sk_ pk- pk_ rk- rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox AKIA ASIA AIza npm_ eyJ'.split(' ');
const KEY = '-----BEGIN ';
const BEGUN_WORD = new RegExp(
  String.raw`\b(?:(?:${PREFIXES.join('|')})[\w.-]*|${PREFIXES.flatMap(beginnings).join('|')})$`,
);
const BEGUN_KEY = new RegExp(`${KEY}[A-Z -]*$`);
/** A longer text after such a beginning has its shape already, or never gets it. */
const MAX_TAIL_LENGTH = 256;

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

function beginnings(word: string): string[] {
  return Array.from({ length: word.length - 1 }, (_, at) => word.slice(0, at + 1));
}

/** Stands in every file that holds a private key, as bytes. */
export const PRIVATE_KEY_MARK = 'PRIVATE KEY';
const PRIVATE_KEY =
  /-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----\s+(?:[A-Za-z0-9+/=_-]{8,}|Proc-Type:|Version:|Comment:)/;

/** Whether a file holds key material, whatever its name. The words without a key behind them, as in source code, are none. */
export function holdsPrivateKey(bytes: Buffer): boolean {
  return bytes.includes(PRIVATE_KEY_MARK) && PRIVATE_KEY.test(bytes.toString('latin1'));
}
