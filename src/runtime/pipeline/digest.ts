import { createHash } from 'node:crypto';

/** The circumstances that an approval digest covers beside the tool and its arguments. */
export interface DigestContext {
  readonly version?: string | undefined;
  readonly session: string;
  readonly workspace: string;
  /** Names and fingerprints of the files that the call would touch. */
  readonly seen: Readonly<Record<string, string>>;
}

/**
 * Returns one hash of a tool, its arguments and their context, independent of key order: the approved call is the one
 * that runs.
 */
export function digestOf(tool: string, args: unknown, { version, session, workspace, seen }: DigestContext): string {
  // Without a version the digest is the same as before versions existed: questions survive an upgrade.
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
