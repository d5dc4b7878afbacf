import { redactText } from '../../runtime/redact.ts';

const LONGEST_VALUE = 120;
const LONGEST_MESSAGE = 2000;

/** A value as a message may show it: without passwords, and not without end. */
export function shown(value: unknown): string {
  const text = hideSecrets(JSON.stringify(value));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** A message without passwords and on one line. Cut only after what is in URLs is gone: half a URL does not show what is secret in it. */
export function hideSecrets(text: string): string {
  const hidden = hideInUrl(text).replace(UNSEEN, escaped);
  return redactText(hidden.length > LONGEST_MESSAGE ? `${hidden.slice(0, LONGEST_MESSAGE)}…` : hidden);
}

/** What a terminal would obey instead of showing it: control characters, and those that turn the direction of writing. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Up to the last @, because a password that was not encoded may itself hold one, or a slash, or a space. */
function hideInUrl(text: string): string {
  const [start, end] = [text.indexOf('://'), text.lastIndexOf('@')];
  return start === -1 || end < start ? text : `${text.slice(0, start)}://[redacted]${text.slice(end)}`;
}
