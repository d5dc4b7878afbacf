import { isPlaceholderKey } from '../secret-likeness.ts';

/** Where a private key stands in a text. */
export interface KeyPlace {
  readonly start: number;
  readonly end: number;
}

/** Longer than private keys are, those of PGP too. */
export const MAX_KEY_LENGTH = 64 * 1024;

const WORDS = '(?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?';
export const KEY_BEGIN = `-{4,5} ?BEGIN ${WORDS} ?-{4,5}`;
export const KEY_END = `-{4,5} ?END ${WORDS} ?-{4,5}`;

/** A piece of the body: letters of base64, with a digit among them. */
export const KEY_BODY = String.raw`(?=[A-Za-z+/=_-]{0,200}\d)[A-Za-z0-9+/=_-]{16,}`;

/** A mark that every key of a kind has, and the head that stands around it. */
const HEADS = [
  { mark: 'PRIVATE KEY', head: new RegExp(KEY_BEGIN) },
  { mark: 'Private-Lines:', head: /Private-Lines: \d+/ },
];
export const KEY_MARKS = [...HEADS.map(({ mark }) => mark), '"d"'];
const [BEFORE_MARK, AFTER_MARK] = [80, 40];

/**
 * Returns the private keys in a text, from the head to the end of each, whatever stands before its lines: the sign of a diff, a quote or
 * a comment, a path, a number. Without its end a key goes as far as lines of a body do. A head without a body is none.
 */
export function* privateKeys(text: string): Generator<KeyPlace> {
  const ends = endsAfter(text);
  for (const { mark, head } of HEADS) {
    for (let at = text.indexOf(mark); at !== -1; ) {
      const from = Math.max(0, at - BEFORE_MARK);
      const match = lastMatch(head, text.slice(from, at + AFTER_MARK), at - from);
      const start = from + (match?.index ?? 0);
      const bodyEnd = match === null ? undefined : endOfBody(text, start + match[0].length);
      const end = bodyEnd === undefined ? at + mark.length : Math.max(bodyEnd, ends(start) ?? 0);
      if (bodyEnd !== undefined) yield { start, end };
      at = text.indexOf(mark, end);
    }
  }
  yield* webKeys(text);
}

/** The match in which a mark stands, not one before it. */
function lastMatch(head: RegExp, around: string, mark: number): RegExpExecArray | null {
  const begins = Math.max(around.lastIndexOf('--BEGIN', mark), around.lastIndexOf('-- BEGIN', mark), 5) - 5;
  const match = head.exec(around.slice(begins));
  if (match === null || match.index + begins > mark) return null;
  match.index += begins;
  return match;
}

/** Asked for places in their order, it reads the text once. */
function endsAfter(text: string): (start: number) => number | undefined {
  const shape = new RegExp(KEY_END, 'g');
  let end: { at: number; to: number } | undefined = { at: -1, to: -1 };
  return (start) => {
    if (end !== undefined && start < end.at - MAX_KEY_LENGTH) return undefined;
    while (end !== undefined && end.at < start) {
      const match = shape.exec(text);
      end = match === null ? undefined : { at: match.index, to: match.index + match[0].length };
    }
    return end !== undefined && end.at - start < MAX_KEY_LENGTH ? end.to : undefined;
  };
}

/** Line breaks as they are written in JSON, in source code, in web pages and addresses, and what joins strings. */
const BREAK = String.raw`\\{1,4}[nr]|<br ?/?>|&#(?:1[03]|x0?[adAD]);|%0[adAD]`;
const INLINE = new RegExp(`(?:(?:${BREAK}|[ \\t\\r"'\`+,;]){0,32}${KEY_BODY})+`, 'y');
/** Left of the line of a key: a path and a number, or signs. */
const BEFORE_LINE = String.raw`(?:[^\s="'\`]{1,300}[:-][+-]?|[ \t]{0,40}(?:\d{1,9}[:|\t -]{1,4})?(?:[-+>#*|;%!]|//){0,4}[ \t]{0,8}["'\`([{]{0,3})`;
const AFTER_LINE = `(?:${BREAK}|[^\\w\\n]){0,24}`;
const LINE = new RegExp(
  `^${BEFORE_LINE}(?:(?<body>[A-Za-z0-9+/=_-]{8,}|=?[A-Za-z0-9+/]{2,16}={1,2}|=[A-Za-z0-9+/]{4})|[A-Za-z-]{4,16}: .{0,200})?${AFTER_LINE}$`,
);
const MAX_LINE = 1024;
/** Headers and empty lines before a body. */
const MAX_BEFORE_BODY = 8;

/** Where the body behind a head ends, as far as its lines go on. Undefined where there is none. */
function endOfBody(text: string, from: number): number | undefined {
  INLINE.lastIndex = from;
  const inline = INLINE.exec(text)?.[0];
  if (inline !== undefined) return isPlaceholderKey(lastWord(inline)) ? undefined : from + inline.length;
  let end: number | undefined;
  let at = text.indexOf('\n', from) + 1;
  if (at === 0 || !new RegExp(`^${AFTER_LINE}$`).test(text.slice(from, Math.min(at - 1, from + MAX_LINE))))
    return undefined;
  for (let before = 0; before < MAX_BEFORE_BODY && at < text.length && at - from < MAX_KEY_LENGTH; ) {
    const newline = text.indexOf('\n', at);
    const to = newline === -1 ? text.length : newline;
    const match = to - at > MAX_LINE ? null : LINE.exec(text.slice(at, to));
    if (match === null) break;
    const body = match.groups?.body;
    if (body === undefined && end !== undefined) break;
    if (body === undefined) before++;
    else if (end === undefined && isPlaceholderKey(body)) return undefined;
    else end = to;
    at = to + 1;
  }
  return end;
}

function lastWord(text: string): string {
  return /[\w+/=-]+$/.exec(text)?.[0] ?? '';
}

const WEB_KEY = /"d"\s{0,4}:\s{0,4}"[\w-]{40,}"/g;

function* webKeys(text: string): Generator<KeyPlace> {
  if (!text.includes('"d"') || !text.includes('"kty"')) return;
  for (const { 0: found, index } of text.matchAll(WEB_KEY)) yield { start: index, end: index + found.length };
}
