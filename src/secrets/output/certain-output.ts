import { MAX_KEY_LENGTH } from '../content/private-keys.ts';

/** A line that is longer is passed on without its end: the output of a program that ends no line. */
const MAX_LINE = 3 * 1024;
/** Longer than any secret of one line. */
const OVERLAP = 2 * 1024;
const MAX_PROMPT = 200;
const PROMPT = /[?:>\])$#%]\s*$/;
const KEY_BEGINS = '-----BEGIN ';
const KEY_ENDS = '-----END ';

/**
 * The length of the part of an output in which secrets can be found before more of it comes: whole lines, a prompt, and no
 * private key whose end is missing.
 */
export function certainOutput(text: string): number {
  const key = openKey(text);
  const length = wholeLines(text);
  return key !== undefined && key < length && text.length - key < MAX_KEY_LENGTH ? key : length;
}

function wholeLines(text: string): number {
  const lines = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
  const rest = text.length - lines;
  if (rest <= MAX_PROMPT && PROMPT.test(text.slice(lines))) return text.length;
  return rest > MAX_LINE ? text.length - OVERLAP : lines;
}

function openKey(text: string): number | undefined {
  const at = text.indexOf(KEY_BEGINS, lastEnd(text) + 1);
  return at !== -1 && /^-----BEGIN [A-Z0-9 ]{0,40}(?:PRIVATE KEY|$)/.test(text.slice(at, at + 80)) ? at : undefined;
}

/** The position of the last complete end of a key. */
function lastEnd(text: string): number {
  const last = text.lastIndexOf(KEY_ENDS);
  const isWhole = /^-----END [A-Z0-9 ]{0,40}-----/.test(text.slice(last, last + 80));
  return last <= 0 || isWhole ? last : text.lastIndexOf(KEY_ENDS, last - 1);
}
