import { TERMINAL_ESCAPES } from '../../kernel/text/terminal-escapes.ts';

/** A text without what a terminal obeys, and the position of each piece of it in the original. */
export interface BareText {
  readonly text: string;
  /** The position in the original of a position in the text. */
  originalOf(at: number): number;
}

/**
 * Colours and controls between two letters of a secret are removed from output before it is read, so it is searched without
 * them. The text has one character for each byte, so a control of Latin-1 has two.
 */
const CONTROL = String.raw`\u00c2[\u0080-\u009f]|[\0-\u0008\u000b\u000c\u000e-\u001f\u007f]`;
const STEERING = new RegExp(`\u00c2?(?:${TERMINAL_ESCAPES.source})|${CONTROL}`, 'g');
const FIRST_STEERING = new RegExp(CONTROL);

/** Undefined where the text has nothing that a terminal obeys. */
export function bareText(original: string): BareText | undefined {
  return FIRST_STEERING.test(original) ? textWithout(original, STEERING) : undefined;
}

/** A text without its line breaks: a value may be folded. */
export function joinedText(original: string): BareText | undefined {
  return original.includes('\n') ? textWithout(original, /[\r\n]+/g) : undefined;
}

/** The bytes in lines that `xxd`, `hexdump -C` or `od -tx1` print, in hex. Undefined where there are none. */
export function dumpedText(original: string): BareText | undefined {
  return FIRST_DUMP.test(original) ? textOf(original, dumpedBytes(original)) : undefined;
}

const FIRST_DUMP = /^[0-9a-f]{7,8}:? {1,2}[0-9a-f]{2}/m;
const DUMP = /^([0-9a-f]{7,8}:? {1,2})((?:[0-9a-f]{2,4}(?: {1,2}|$)){1,16})|\n/gm;

/** A line of another kind leaves its line break, so that bytes before and after it do not meet. */
function* dumpedBytes(original: string): Generator<TextRange> {
  let isAfterDump = false;
  for (const { 0: found, 1: place = '', 2: bytes, index } of original.matchAll(DUMP)) {
    if (bytes === undefined && !isAfterDump) yield { from: index, to: index + found.length };
    isAfterDump = bytes !== undefined;
    for (const { index: at } of (bytes ?? '').matchAll(/[0-9a-f]{2}/g)) {
      const from = index + place.length + at;
      yield { from, to: from + 2 };
    }
  }
}

interface TextRange {
  readonly from: number;
  readonly to: number;
}

function textWithout(original: string, left: RegExp): BareText {
  const ranges: TextRange[] = [];
  let from = 0;
  for (const { 0: all, index } of original.matchAll(left)) {
    ranges.push({ from, to: index });
    from = index + all.length;
  }
  return textOf(original, [...ranges, { from, to: original.length }]);
}

function textOf(original: string, ranges: Iterable<TextRange>): BareText {
  const pieces: string[] = [];
  const starts: number[] = [];
  const originals: number[] = [];
  let length = 0;
  for (const { from, to } of ranges) {
    if (to <= from) continue;
    starts.push(length);
    originals.push(from);
    pieces.push(original.slice(from, to));
    length += to - from;
  }
  return {
    text: pieces.join(''),
    originalOf(at) {
      let [low, high] = [0, starts.length - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if ((starts[middle] ?? 0) <= at) low = middle;
        else high = middle - 1;
      }
      return (originals[low] ?? 0) + at - (starts[low] ?? 0);
    },
  };
}
