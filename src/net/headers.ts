import { isUtf8 } from 'node:buffer';
import { fail, ok, type Result } from '../kernel/result.ts';

/** Headers that belong to the connection, or that would make it lie about where it goes. */
const OURS =
  /^(host|connection|content-length|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept-encoding|proxy-.*)$/;
const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be sent.
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f]/;
const BEYOND_LATIN1 = /[\u0100-\uffff]/;
/** What says nothing about who asks. */
const HARMLESS = new Set(['accept', 'accept-language', 'content-type', 'user-agent']);
const MOST = 50;

/** A caller's headers with names in lower case, or why one cannot be sent. */
export function checkHeaders(given: Readonly<Record<string, string>>): Result<Record<string, string>> {
  const headers: Record<string, string> = {};
  const entries = Object.entries(given);
  if (entries.length > MOST) return fail('INVALID_INPUT', `At most ${MOST} headers can be sent.`);
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    const shown = JSON.stringify(name.slice(0, 100));
    if (!NAME.test(lower)) return fail('INVALID_INPUT', `${shown} cannot be the name of a header.`);
    if (OURS.test(lower)) return fail('INVALID_INPUT', `The header ${shown} is set by the connection: leave it out.`);
    if (CONTROL.test(value) || BEYOND_LATIN1.test(value)) {
      return fail('INVALID_INPUT', `The header ${shown} holds a line break or another character that cannot be sent.`);
    }
    headers[lower] = value;
  }
  return ok(headers);
}

/** What may go to another origin than the one it was meant for. */
export function harmlessOnly(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => HARMLESS.has(name)));
}

/** An answer's headers as plain text: one value a name, and nothing that a terminal would obey. */
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

/** Headers come as Latin 1; many servers send UTF-8, in `Location` above all. */
function asUtf8(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : text;
}

function visible(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
