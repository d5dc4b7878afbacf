import { createHash } from 'node:crypto';

/** The circumstances that an approval digest covers beside the tool and its arguments. */
export interface DigestContext {
  readonly version?: string | undefined;
  readonly session: string;
  readonly workspace: string;
  /** The versions that the call expects of the files it would change. */
  readonly seen: Readonly<Record<string, string>>;
  /** JSON of the plan's own that the approval covers. */
  readonly bound?: unknown;
}

/**
 * Returns one hash of a tool, its arguments and their context, independent of key order: the approved call is the one
 * that runs.
 */
export function digestOf(tool: string, args: unknown, context: DigestContext): string {
  const { version, session, workspace, seen, bound } = context;
  // Without a version the digest is the same as before versions existed: questions survive an upgrade.
  const definition = version === undefined ? [] : [version];
  const own = bound === undefined ? [] : [{ bound: canonical(bound) }];
  return createHash('sha256')
    .update(JSON.stringify([tool, canonical(args), session, workspace, canonical(seen), ...definition, ...own]))
    .digest('hex');
}

function canonical(value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(canonical);
  const sorted = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, inner]) => [key, canonical(inner)]));
}
