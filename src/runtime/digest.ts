import { createHash } from 'node:crypto';

/** One hash for a tool and its arguments, whatever the order of their keys: what is approved is what runs. */
export function digestOf(tool: string, args: unknown): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, canonical(args)]))
    .digest('hex');
}

function canonical(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, canonical(inner)]));
}
