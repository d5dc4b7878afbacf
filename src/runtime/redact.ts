import { JWT } from './token-shapes.ts';

const SECRET_WORDS = new Set(
  'password passwords passwd pass passphrase passcode pwd secret secrets token tokens apikey accesskey privatekey auth authorization bearer cookie cookies credential credentials'.split(
    ' ',
  ),
);
const SECRET_PAIRS = new Set(
  'api key,access key,private key,signing key,encryption key,secret key,session id'.split(','),
);

/** `dbPassword1`, `X-Api-Key`, `session_id`: judged by its words, so that `compass` is no password. */
export function isSecretKey(key: string): boolean {
  const words = key
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);
  return words.some((word, at) => SECRET_WORDS.has(word) || SECRET_PAIRS.has(`${word} ${words[at + 1]}`));
}

/** Every name that `isSecretKey` means has one of these in it. */
const MAY_BE_NAMED = /pass|pwd|secret|token|key|auth|bearer|cookie|credential|session/i;
/** Names that often count something: `max_tokens: 100`. */
const MAY_COUNT = /token|pass(?!w|p|c)|session/i;

/** Text, lists and objects under such a name; a number too, unless the name may count it. A flag is no secret. */
export function isNamedSecret(key: string, value: unknown): boolean {
  if (!MAY_BE_NAMED.test(key) || !isSecretKey(key)) return false;
  if (typeof value === 'number' || typeof value === 'bigint') return !MAY_COUNT.test(key);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'string' && value !== '';
}

/** Values that give themselves away by their shape, whatever the key they stand under. */
const SECRET_VALUES = [
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

const HIDDEN = '[redacted]';
const DEEPEST = 8;

/** A copy fit for a log: secrets hidden by key and by shape, and cut off where it nests too deep. Never throws. */
export function redacted(value: unknown): unknown {
  try {
    return redact(value, 0);
  } catch {
    return '[unreadable]';
  }
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  if (depth >= DEEPEST) return '[…]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(key, inner, depth)]));
}

function shown(key: string, value: unknown, depth: number): unknown {
  return isNamedSecret(key, value) ? HIDDEN : redact(value, depth + 1);
}

export function redactText(text: string): string {
  return SECRET_VALUES.reduce((result, shape) => result.replace(shape, HIDDEN), text);
}
