/** A dash is part of a token and may stand before one too: with few of them no text is read again from each of many. */
const FEW_DASHES = '{0,16}';

/**
 * What decides is optional in a look-ahead that ends at its first try, so nothing is read twice from one place. Then
 * `(?!\k<name>)` asks for it: what was not found is empty, which stands everywhere, and what was found stands further on.
 */
const HAS_DIGIT = String.raw`(?=[-_](?:[A-Za-z_]*-)${FEW_DASHES}[A-Za-z_]*(?<digit>\d)?)(?!\k<digit>)`;
const HAS_DOTS = String.raw`(?=(?:\w*-)${FEW_DASHES}\w*(?:\.[\w-]{8,}(?<dot>\.)?)?)(?!\k<dot>)`;

export const JWT = String.raw`\beyJ(?=[\w-]{8})${HAS_DOTS}[\w-]+\.[\w-]+\.[\w-]*`;

/** Shapes of tokens. Words alone are none: `pk_user_accounts` is a name, so letters without a digit are left alone. */
export const TOKENS = [
  // Somebody's own text that looks like a hidden one is kept in the vault as well, so that it is not taken for lost.
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

/** What the shapes begin with. */
const WORDS = 'sk- sk_ pk- pk_ rk- rk_ ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- xox AKIA ASIA AIza npm_ eyJ'.split(
  ' ',
);
const KEY = '-----BEGIN ';
const BEGUN_WORD = new RegExp(String.raw`\b(?:(?:${WORDS.join('|')})[\w.-]*|${WORDS.flatMap(beginnings).join('|')})$`);
const BEGUN_KEY = new RegExp(`${KEY}[A-Z -]*$`);
/** Whatever begins so and is longer has its shape already, or never gets it. */
const LOOKED_AT = 256;

/** Where the end of a text starts that may be the beginning of one of these values, or of a token; its length if nowhere. */
export function secretBegins(text: string, values: readonly string[]): number {
  const tail = text.slice(-LOOKED_AT);
  const places = [BEGUN_WORD, BEGUN_KEY].map((shape) => tail.search(shape)).filter((at) => at !== -1);
  const begun = [KEY, ...values].map((value) => lengthBegun(text, value));
  return text.length - Math.max(...places.map((at) => tail.length - at), ...begun);
}

/** How much of a value a text ends with, if it is not the whole. */
function lengthBegun(text: string, value: string): number {
  for (let length = Math.min(value.length - 1, text.length); length > 0; length--) {
    if (text.endsWith(value.slice(0, length))) return length;
  }
  return 0;
}

function beginnings(word: string): string[] {
  return Array.from({ length: word.length - 1 }, (_, at) => word.slice(0, at + 1));
}
