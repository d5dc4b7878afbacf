import { isUtf8 } from 'node:buffer';
import { fail, ok, type Result } from '../kernel/result.ts';
import { escapeInvisible, STEERING } from '../kernel/text/invisible.ts';

/** Headers of the connection itself, or that would misstate its destination. */
const OURS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept-encoding|proxy-.*)$/;
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be sent.
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;
const BEYOND_LATIN1 = /[\u0100-\uffff]/;
/** Headers that do not identify the caller. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);
const MAX_HEADERS = 50;

/** Returns the caller's headers in lower case, or why one cannot be sent. */
export function checkHeaders(given: Readonly<Record<string, string>>): Result<Record<string, string>> {
  const headers: Record<string, string> = {};
  const entries = Object.entries(given);
  if (entries.length > MAX_HEADERS) return fail('INVALID_INPUT', `At most ${MAX_HEADERS} headers can be sent.`);
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    const shown = JSON.stringify(name.slice(0, 100));
    if (!NAME.test(lower)) return fail('INVALID_INPUT', `${shown} is not a valid header name.`);
    if (OURS.test(lower)) return fail('INVALID_INPUT', `The header ${shown} is set by the connection: leave it out.`);
    if (CONTROL.test(value) || BEYOND_LATIN1.test(value)) {
      return fail('INVALID_INPUT', `The header ${shown} contains a line break or another invalid character.`);
    }
    headers[lower] = value;
  }
  return ok(headers);
}

/** Keeps only headers that may go to another origin. */
export function harmlessOnly(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)));
}

/** Response headers as plain text: one value a name, and no control characters. */
export function readableHeaders(
  given: Readonly<Record<string, string | readonly string[] | undefined>>,
): Record<string, string> {
  const entries = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined) return [];
    const text = typeof value === 'string' ? value : value.join(', ');
    return [[name.toLowerCase(), visible(asUtf8(text))] as const];
  });
  return Object.fromEntries(entries);
}

/** Decodes headers, which arrive as Latin 1, as UTF-8: many servers send that, especially in `Location`. */
function asUtf8(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : text;
}

function visible(text: string): string {
  return escapeInvisible(text.replaceAll('\t', ' '), STEERING);
}
