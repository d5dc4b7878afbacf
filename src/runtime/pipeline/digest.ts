import { createHash } from 'node:crypto';

/** What a yes is bound to beside the tool's name and its arguments. */
export interface Bound {
  readonly version?: string | undefined;
  readonly session: string;
  readonly workspace: string;
  /** Names and fingerprints of what the call would touch. */
  readonly seen: Readonly<Record<string, string>>;
}

/** One hash for a tool, its arguments and their surroundings, whatever the order of keys: what is approved is what runs. */
export function digestOf(tool: string, args: unknown, { version, session, workspace, seen }: Bound): string {
  // Without a version it is what it was before there were any: questions wait over an upgrade.
  const definition = version === undefined ? [] : [version];
  return createHash('sha256')
    .update(JSON.stringify([tool, canonical(args), session, workspace, canonical(seen), ...definition]))
    .digest('hex');
}

function canonical(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, canonical(inner)]));
}
