const SECRET_KEY = /pass(word|wd|phrase)?$|secret|token$|api[-_]?key|private[-_]?key|authorization|cookie|credential/i;

/** Values that give themselves away by their shape, whatever the key they stand under. */
const SECRET_VALUES = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(sk|pk|rk)[-_](live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_[A-Za-z0-9_]{20,}|\bglpat-[A-Za-z0-9_-]{16,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{30,}/g,
  /\bnpm_[A-Za-z0-9]{30,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /\b(Bearer|Basic)\s+[A-Za-z0-9+/_.~=-]{8,}/gi,
  /(?<=:\/\/[^\s:/@]{0,256}:)[^\s/@]{1,256}(?=@)/g,
];

const HIDDEN = '[redacted]';
const DEEPEST = 8;

/** A copy fit for a log: secrets hidden by key and by shape, and cut off where it nests too deep. */
export function redact(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return redactText(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  if (depth >= DEEPEST) return '[…]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [key, SECRET_KEY.test(key) ? HIDDEN : redact(inner, depth + 1)]),
  );
}

export function redactText(text: string): string {
  return SECRET_VALUES.reduce((result, shape) => result.replace(shape, HIDDEN), text);
}
