/** A text that was cut: both kept parts, and the size of the gap between them. */
export interface TextCut {
  head: string;
  tail: string;
  omittedCharacters: number;
  omittedLines: number;
}

const HEAD_SHARE = 0.4;

/**
 * Keeps the head (40 %) and the tail (60 %) of a text within `limit` characters, cut on line borders where a line is
 * not itself too long, and never inside a surrogate pair. The limit counts UTF-16 units, as `length` does.
 */
export function cutText(text: string, limit: number): TextCut {
  const headLimit = Math.floor(limit * HEAD_SHARE);
  const headEnd = endOfHead(text, headLimit);
  const tailStart = startOfTail(text, text.length - (limit - headLimit));
  const omitted = text.slice(headEnd, tailStart);
  return {
    head: text.slice(0, headEnd),
    tail: text.slice(tailStart),
    omittedCharacters: omitted.length,
    omittedLines: countLines(omitted),
  };
}

/** The bounded text a model reads, with a notice in the gap. The notice is part of the limit. */
export function truncate(text: string, limit: number, whereabouts: string): string {
  const longestNotice = notice({ omittedCharacters: text.length, omittedLines: text.length }, whereabouts).length + 1;
  if (limit < longestNotice * 2) return text.slice(0, withoutHalfPair(text, limit));
  const parts = cutText(text, limit - longestNotice);
  const border = parts.head.endsWith('\n') ? '' : '\n';
  return `${parts.head}${border}${notice(parts, whereabouts)}${parts.tail}`;
}

function notice(omitted: Pick<TextCut, 'omittedCharacters' | 'omittedLines'>, whereabouts: string): string {
  const { omittedCharacters: characters, omittedLines: lines } = omitted;
  return `[… ${characters} characters in ${lines} lines left out here; ${whereabouts} …]\n`;
}

/** Cuts at a line border unless that loses more than half of the room; a longer line is cut inside. */
function endOfHead(text: string, limit: number): number {
  const border = text.lastIndexOf('\n', limit - 1) + 1;
  return border > limit / 2 ? border : withoutHalfPair(text, limit);
}

function startOfTail(text: string, from: number): number {
  const border = text.indexOf('\n', from - 1) + 1;
  return border > 0 && border - from < (text.length - from) / 2 ? border : from + (from - withoutHalfPair(text, from));
}

/** Returns the index, or the one before it where the index would split a surrogate pair. */
export function withoutHalfPair(text: string, index: number): number {
  const before = text.charCodeAt(index - 1);
  return before >= 0xd800 && before <= 0xdbff ? index - 1 : index;
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines++;
  return text === '' || text.endsWith('\n') ? lines : lines + 1;
}
