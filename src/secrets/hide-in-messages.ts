import { escapeInvisible, STEERING } from '../kernel/text/invisible.ts';
import { hideInLogText } from './hide-in-logs.ts';

const MAX_VALUE_LENGTH = 120;
const MAX_MESSAGE_LENGTH = 2000;

/** Returns a value as a message may show it: without passwords, and cut off when it is long. */
export function showValue(value: unknown): string {
  const text = hideInMessage(JSON.stringify(value));
  return text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text;
}

/** Returns a message without passwords and on one line. Passwords in URLs are hidden before the text is cut: half a URL does not show which part is secret. */
export function hideInMessage(text: string): string {
  const hidden = escapeInvisible(hideInUrl(text), STEERING);
  return hideInLogText(hidden.length > MAX_MESSAGE_LENGTH ? `${hidden.slice(0, MAX_MESSAGE_LENGTH)}…` : hidden);
}

/** Hides everything up to the last @: a password that was not encoded may contain one, or a slash, or a space. */
function hideInUrl(text: string): string {
  const [start, end] = [text.indexOf('://'), text.lastIndexOf('@')];
  return start === -1 || end < start ? text : `${text.slice(0, start)}://[redacted]${text.slice(end)}`;
}
