import { createHash } from 'node:crypto';

/** What a yes is bound to beside the tool and its arguments. */
export interface Bound {
  readonly session: string;
  readonly workspace: string;
  /** Names and fingerprints of what the call would touch. */
  readonly seen: Readonly<Record<string, string>>;
}

/** One hash for a tool, its arguments and their surroundings, whatever the order of keys: what is approved is what runs. */
export function digestOf(tool: string, args: unknown, { session, workspace, seen }: Bound): string {
  return createHash('sha256')
    .update(JSON.stringify([tool, canonical(args), session, workspace, canonical(seen)]))
    .digest('hex');
}

function canonical(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, canonical(inner)]));
}
