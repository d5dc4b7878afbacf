import { escapeRegex } from '../kernel/text/escape.ts';
import { KEY_MARKS, privateKeys } from './content/private-keys.ts';
import { SENT_MARKS, sentCredentials } from './content/sent-credentials.ts';
import { isPlaceholder, isPlaceholderToken, isRandom, isTypedPassword } from './secret-likeness.ts';
import { isSecretKey } from './secret-names.ts';
import { CONNECTION_STRING, SECRET_SHAPES } from './secret-shapes.ts';

export interface FoundSecret {
  /** As in "It holds a GitHub token". */
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The name of a short value under a name such as `password`: a secret in settings, and perhaps only a word in source code. */
export const PASSWORD = 'password';
export const PRIVATE_KEY = 'private key';

/**
 * Returns the secrets in a text, by its content alone, in the order of their positions for each kind. Placeholders such as
 * `<token>` or `${TOKEN}` are none. It takes time linear in the text.
 */
export function findSecrets(text: string): readonly FoundSecret[] {
  const keys = [...privateKeys(text)].map((place) => ({ name: PRIVATE_KEY, ...place }));
  return [...keys, ...tokens(text), ...passwordsInAddresses(text), ...assignedValues(text), ...credentialsIn(text)];
}

/**
 * A pattern, for ripgrep too, that matches somewhere in every text with a secret, and in many others: to leave out the files
 * that need no closer look.
 */
export function secretMarks(): string {
  const begins = SECRET_SHAPES.flatMap((shape) => shape.begins).map(escapeRegex);
  const unnamed = SECRET_SHAPES.filter((shape) => shape.begins.length === 0).map(({ source }) => source);
  return [...KEY_MARKS, ...begins, ...unnamed, ADDRESS.source, ASSIGNED, ...SENT_MARKS].join('|');
}

/** Passwords in addresses have a look of their own. */
const TOKEN_SHAPES = SECRET_SHAPES.filter(({ name }) => name !== CONNECTION_STRING);
const ANY_SHAPE = TOKEN_SHAPES.map(({ source }, at) => `(?<shape${at}>${source})`).join('|');
/** All of them begin a word: asked once for each place, not by each shape. */
const SHAPE = new RegExp(String.raw`\b(?:${ANY_SHAPE})`, 'g');

function* tokens(text: string): Generator<FoundSecret> {
  for (const { from, to } of regionsWithRuns(text)) {
    for (const { 0: found, index, groups = {} } of text.slice(from, to).matchAll(SHAPE)) {
      const at = TOKEN_SHAPES.findIndex((_shape, number) => groups[`shape${number}`] !== undefined);
      if (isPlaceholderToken(found)) continue;
      yield { name: TOKEN_SHAPES[at]?.name ?? 'token', start: from + index, end: from + index + found.length };
    }
  }
}

/** Every token but a password in an address has a run of at least so many letters and digits, with a digit among them. */
const MIN_RUN = 16;
/** As much as a shape has before and after that run. */
const AROUND_RUN = 96;

/** Looks at every 16th character first: a long run cannot lie between two of them. */
function regionsWithRuns(text: string): readonly { from: number; to: number }[] {
  const regions: { from: number; to: number }[] = [];
  let region: { from: number; to: number } | undefined;
  for (let at = MIN_RUN - 1; at < text.length; at += MIN_RUN) {
    if (!isRunCode(text.charCodeAt(at))) continue;
    let [start, end] = [at, at + 1];
    while (start > 0 && at - start < MIN_RUN && isRunCode(text.charCodeAt(start - 1))) start--;
    while (isRunCode(text.charCodeAt(end))) end++;
    if (end - start >= MIN_RUN && hasDigit(text, start, end)) {
      const next = { from: Math.max(0, start - AROUND_RUN), to: end + AROUND_RUN };
      if (region !== undefined && next.from > region.to) regions.push(region);
      region = region !== undefined && next.from <= region.to ? { from: region.from, to: next.to } : next;
    }
    at += Math.floor((end - 1 - at) / MIN_RUN) * MIN_RUN;
  }
  if (region !== undefined) regions.push(region);
  return regions;
}

/** Letters, digits, `_` and what stands inside a token: `-`, `.`, `/`. */
const RUN_CODES = new Uint8Array(256).map((_zero, code) => (/[\w./-]/.test(String.fromCharCode(code)) ? 1 : 0));

function isRunCode(code: number): boolean {
  return RUN_CODES[code] === 1;
}

function hasDigit(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) return true;
  }
  return false;
}

/** A shorter password in an address may be an example. */
const MIN_SURE_LENGTH = 10;
const QUOTED = { isQuoted: true };
const ADDRESS = /:\/\/[^\s:/@"'`<>]{0,64}:([^\s/@"'`<>]{3,200})@/g;

function* passwordsInAddresses(text: string): Generator<FoundSecret> {
  for (const { 0: found, 1: password = '', index } of text.matchAll(ADDRESS)) {
    const name = password.length >= MIN_SURE_LENGTH && isTypedPassword(password, QUOTED) ? CONNECTION_STRING : PASSWORD;
    const start = index + found.lastIndexOf(password);
    if (!isPlaceholder(password)) yield { name, start, end: start + password.length };
  }
}

const VALUE = /"([^"\n\\]{6,400})"|'([^'\n\\]{6,400})'|([^\s"'`,;<>(){}[\]:]{6,400})(?=[\s,;"'<]|$)/y;
const MAX_NAME = 64;
const MAX_BLANKS = 8;
const NAME = /([\w.-]+)["'\]]{0,2}[ \t]{0,8}:?$/;
/** The last letters of telling names. */
const ENDINGS = 'ord rds ass ase pwd swd ret ets ken key uth ial als'.split(' ');
const ENDING_CODES = new Set(ENDINGS.map((word) => endingBefore(word, 3)));
/** With the sign behind them, for ripgrep. */
const ASSIGNED = `(?:${ENDINGS.map(inAnyCase).join('|')})["'\\]]{0,2}[ \\t]{0,8}:?[=:>]`;

/** Far quicker than a regular expression that ignores case. */
function inAnyCase(word: string): string {
  return word.replace(/./g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** The values under a telling name, as in `password = "…"`, `"api_key": "…"`, `TOKEN=…` and `<secret>…`. */
function* assignedValues(text: string): Generator<FoundSecret> {
  for (let sign = signAfter(text, 3); sign !== -1; sign = signAfter(text, sign + 1)) {
    const value = valueAt(text, sign);
    if (value !== undefined) yield value;
  }
}

/** The place of the next sign behind a telling ending, or -1. By hand, since a regular expression takes three times as long. */
function signAfter(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < COLON || code > 62 || code === 59 || code === 60) continue;
    if (code === COLON && isSign(text.charCodeAt(at + 1))) continue;
    if (ENDING_CODES.has(endingBefore(text, endOfName(text, at)))) return at;
  }
  return -1;
}

const COLON = 58;

/** `=`, `:` or `>`. */
function isSign(code: number): boolean {
  return code === 61 || code === COLON || code === 62;
}

/** Where the name before a sign ends: left of `:=`, blanks, quotes and a bracket. */
function endOfName(text: string, sign: number): number {
  let end = text.charCodeAt(sign - 1) === COLON ? sign - 1 : sign;
  for (let blanks = 0; blanks < MAX_BLANKS && isBlank(text.charCodeAt(end - 1)); blanks++) end--;
  for (let quotes = 0; quotes < 2 && isQuote(text.charCodeAt(end - 1)); quotes++) end--;
  return end;
}

/** `"`, `'` or `]`. */
function isQuote(code: number): boolean {
  return code === 34 || code === 39 || code === 93;
}

/** The three letters before a place as one number, without their case. */
function endingBefore(text: string, end: number): number {
  const [first, second, third] = [text.charCodeAt(end - 3), text.charCodeAt(end - 2), text.charCodeAt(end - 1)];
  return ((first | 32) << 16) | ((second | 32) << 8) | (third | 32);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

function valueAt(text: string, sign: number): FoundSecret | undefined {
  const before = text.slice(Math.max(0, sign - MAX_NAME), sign);
  const name = NAME.exec(before)?.[1];
  if (name === undefined || !ENDS_TELLING.test(name) || NO_SECRETS.test(name) || !isSecretKey(name)) return undefined;
  let start = sign + 1;
  if (text[start] === '=' || text[start] === '>') start++;
  while (isBlank(text.charCodeAt(start)) && start < sign + MAX_BLANKS) start++;
  VALUE.lastIndex = start;
  const match = VALUE.exec(text);
  if (match === null) return undefined;
  const quoted = match[1] ?? match[2];
  const value = quoted ?? match[3] ?? '';
  const isQuoted = quoted !== undefined || (isSetting(name) && before.endsWith(name));
  const kind = kindOf(name, value, { isQuoted });
  return kind === undefined ? undefined : { name: kind, start, end: start + match[0].length };
}

function* credentialsIn(text: string): Generator<FoundSecret> {
  for (const { name, value, start } of sentCredentials(text)) {
    const isTelling = ENDS_TELLING.test(name) && !NO_SECRETS.test(name) && isSecretKey(name);
    const kind = isTelling ? kindOf(name, value, QUOTED) : undefined;
    if (kind !== undefined) yield { name: kind, start, end: start + value.length };
  }
}

function kindOf(name: string, value: string, { isQuoted }: { isQuoted: boolean }): string | undefined {
  if (isPlaceholder(value)) return undefined;
  if (isRandom(value)) return 'secret value';
  return PASSWORD_NAME.test(name) && isTypedPassword(value, { isQuoted }) ? PASSWORD : undefined;
}

const ENDS_TELLING = /(?:word|words|pass|phrase|pwd|passwd|secret|secrets|token|key|auth|credentials?|key_base)$/i;
/** A token of this kind opens nothing by itself. */
const NO_SECRETS =
  /public|(?:page|next|sync|cursor|continuation|csrf|cancel)_?token$|(?:hash|cache|sort|partition|primary|foreign)_?key$/i;
const PASSWORD_NAME = /(?:word|pass|phrase|pwd|secret)$/i;

/** Whether a name is written as in a `.env` file. */
function isSetting(name: string): boolean {
  return /^[A-Z][A-Z0-9_]*$/.test(name);
}
