import { redactText } from '../../runtime/redact.ts';

const LONGEST_VALUE = 120;
const LONGEST_MESSAGE = 2000;

/** A value as a message may show it: without passwords, and not without end. */
export function shown(value: unknown): string {
  const text = hideSecrets(JSON.stringify(value));
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : text;
}

/** A message without passwords. Cut only after what is in URLs is gone: half a URL does not show what is secret in it. */
export function hideSecrets(text: string): string {
  const hidden = hideInUrl(text);
  return redactText(hidden.length > LONGEST_MESSAGE ? `${hidden.slice(0, LONGEST_MESSAGE)}…` : hidden);
}

/** Up to the last @, because a password that was not encoded may itself hold one, or a slash, or a space. */
function hideInUrl(text: string): string {
  const [start, end] = [text.indexOf('://'), text.lastIndexOf('@')];
  return start === -1 || end < start ? text : `${text.slice(0, start)}://[redacted]${text.slice(end)}`;
}
