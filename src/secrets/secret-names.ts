const SECRET_WORDS = new Set(
  'password passwords passwd pass passphrase passcode pwd secret secrets token tokens apikey accesskey accountkey privatekey secretkey auth authorization bearer cookie cookies credential credentials'.split(
    ' ',
  ),
);
const SECRET_PAIRS = new Set(
  'api key,access key,account key,private key,signing key,encryption key,secret key,session id'.split(','),
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

/** A quick first test: every name for which `isSecretKey` is true contains one of these. */
const MAY_BE_SECRET = /pass|pwd|secret|token|key|auth|bearer|cookie|credential|session/i;
/** Names that often count something: `max_tokens: 100`. */
const MAY_COUNT = /token|pass(?!w|p|c)|session/i;

/** True for text, lists and objects under such a name; for a number too, unless the name may count it. A flag is no secret. */
export function isNamedSecret(key: string, value: unknown): boolean {
  if (!MAY_BE_SECRET.test(key) || !isSecretKey(key)) return false;
  if (typeof value === 'number' || typeof value === 'bigint') return !MAY_COUNT.test(key);
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return typeof value === 'string' && value !== '';
}
