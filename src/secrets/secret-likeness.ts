/** Whether a value stands for one that the reader fills in, or is one that all may know. */
export function isPlaceholder(value: string): boolean {
  return (
    isSample(value) ||
    PUBLISHABLE.test(value) ||
    VARIABLE.test(value) ||
    WORDS.test(value) ||
    SEQUENCES.test(value) ||
    new Set(value.slice(-24)).size <= 3
  );
}

/** A key of Stripe that is meant for the pages of a shop. */
const PUBLISHABLE = /^pk_(?:live|test)_/;
const VARIABLE =
  /\$\{|\$\(|^\$[A-Za-z_]|\{\{|<[^>]*>|%[({]|%[A-Z_]+%|^@|process\.env|os\.environ|getenv|env\.|^!|^secretRef|^vault:|^ENC\[/;
const WORDS =
  /change[-_ ]?(?:me|it|this)|replace|example|placeholder|your[-_ ]?|dummy|redacted|insert|xxxx|\*\*\*|\.\.\.|…|(?:^|[-_. ])(?:test|fake|sample|mock|todo|none|null|undefined|foo|bar|my)(?:[-_. ]|$)|^(?:user|pass|password|passwd|secret|token|pwd|root|admin|postgres|guest|mysql|mongo|redis|rabbitmq)\d{0,3}$|^(?:my|the|some)?[-_]?(?:super)?[-_]?(?:secret|password|token|key)s?(?:[-_]?(?:here|key|value|password|token))*$/i;
const FILLED_IN = /example|your[-_]|xxxxx|placeholder|<[^>]*>|\$\{|\{\{/i;
const SEQUENCES = /012345|123456|abcdef(?!\d)|abcdefgh|deadbeef|cafebabe|qwerty/i;

/** Samples in the documentation of those who give out such tokens, and what a framework gives each new project to begin with. */
const SAMPLES = [
  'sk_test_4eC39HqLyjWDarjtT1zdp7dc',
  'sk_test_BQokikJOvBiI2HlWgH4olfQ2',
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.',
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiYWRtaW4iOnRydWUsImlhdCI6MTUxNjIzOTAyMn0.',
  'django-insecure-',
];

/** Whether all may know a value, since it stands in a documentation or names itself insecure. */
function isSample(value: string): boolean {
  return SAMPLES.some((sample) => value.startsWith(sample));
}

/** The same for a text that has the shape of a token or a key: words in it may be chance. */
export function isPlaceholderToken(value: string): boolean {
  if (isSample(value)) return true;
  return FILLED_IN.test(value) || SEQUENCES.test(value) || new Set(value.slice(-24)).size <= 3;
}

/** The same for the first line of a private key. */
export function isPlaceholderKey(line: string): boolean {
  return /^(?:your|insert|paste|base64|x{4}|\.{3})/i.test(line) || new Set(line).size <= 2;
}

/** Whether a value looks as if a machine had made it: long, of many kinds of characters, and no words. */
export function isRandom(value: string): boolean {
  if (value.length < 16 || !/^[\w+/=.~!@#$%^&*?|:-]+$/.test(value)) return false;
  if (isNameOrPath(value)) return false;
  const digits = value.replace(/\D/g, '').length;
  const isMixed = /[a-z]/.test(value) && /[A-Z]/.test(value);
  return digits >= (isMixed ? 1 : 3) && /[A-Za-z]/.test(value) && entropy(value) >= (isMixed ? 3.3 : 3);
}

/** Whether a value looks like a password that a person thought of. Without quotes it may be a name of the source code. */
export function isTypedPassword(value: string, { isQuoted }: { isQuoted: boolean }): boolean {
  if (value.length < 6 || /\s/.test(value) || isNameOrPath(value)) return false;
  if (!isQuoted && /^[A-Za-z_$][A-Za-z_$]*\d{0,4}$/.test(value)) return false;
  const hasOther = /[^A-Za-z]/.test(value);
  const hasLetter = /[A-Za-z]/.test(value);
  return hasLetter && hasOther && /[\d!@#$%^&*?+]/.test(value) && entropy(value) >= 2.4;
}

/** `config.auth.token`, `/run/secrets/db`, `https://host/x`, `reset-password-link2`. */
function isNameOrPath(value: string): boolean {
  if (/^(?:\.{0,2}\/|~\/|[A-Za-z]:\\|https?:\/\/|arn:|projects\/|file:)/.test(value)) return true;
  if (/^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/.test(value) && !/\d{3}/.test(value)) return true;
  return /^[A-Za-z]+(?:[-_./:][A-Za-z]+)*[-_.]?v?\d{0,2}$/.test(value) && value.split(/[-_./:]/).length > 1;
}

/** Bits for each character. */
function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}
