import { isNamedSecret } from './secret-names.ts';
import { HIDDEN, LOG_SHAPES } from './token-shapes.ts';

const MAX_DEPTH = 8;

/** Returns a copy fit for a log: secrets are hidden by key and by shape, and deep nesting is cut off. Never throws. */
export function hideInLog(value: unknown): unknown {
  try {
    return redact(value, 0);
  } catch {
    return '[unreadable]';
  }
}

function redact(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return hideInLogText(value);
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value;
  if (depth >= MAX_DEPTH) return '[…]';
  if (Array.isArray(value)) return value.map((item) => redact(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactField(key, inner, depth)]));
}

function redactField(key: string, value: unknown, depth: number): unknown {
  return isNamedSecret(key, value) ? HIDDEN : redact(value, depth + 1);
}

export function hideInLogText(text: string): string {
  return LOG_SHAPES.reduce((result, shape) => result.replace(shape, HIDDEN), text);
}
