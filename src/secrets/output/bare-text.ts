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
  if (!FIRST_STEERING.test(original)) return undefined;
  const pieces: string[] = [];
  const starts: number[] = [];
  const originals: number[] = [];
  let [length, from] = [0, 0];
  const keep = (to: number): void => {
    if (to <= from) return;
    starts.push(length);
    originals.push(from);
    pieces.push(original.slice(from, to));
    length += to - from;
  };
  for (const { 0: all, index } of original.matchAll(STEERING)) {
    keep(index);
    from = index + all.length;
  }
  keep(original.length);
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
