import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { messageOf } from '../../kernel/error.ts';
import type { Logger } from '../../kernel/ports.ts';

/** What each server's tools looked like when a person last agreed to them: adding the server, or approving a call. */
export interface ToolPins {
  /** Undefined for a server that was never seen. */
  known(server: string): ReadonlyMap<string, string> | undefined;
  keep(server: string, fingerprints: Iterable<readonly [tool: string, fingerprint: string]>): void;
}

/** Everything a model or a person reads of a tool, as one hash. */
export function fingerprintOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ListedTool): string {
  const seen = { name, title, description, inputSchema, outputSchema, annotations };
  return createHash('sha256').update(canonical(seen)).digest('base64url');
}

/**
 * Kept in a file of the state folder. One that cannot be understood is put aside, and from then on nobody has agreed to
 * anything: what had changed meanwhile would else count as newly added.
 */
export function openToolPins(path: string, log: Logger): ToolPins {
  const kept = read(path) ?? startOver(path, log);
  const servers = new Map(Object.entries(kept).map(([name, tools]) => [name, new Map(Object.entries(tools))]));
  return {
    known: (server) => servers.get(server) ?? servers.get(ALL),
    keep(server, fingerprints) {
      const given = [...fingerprints];
      const tools = servers.get(server) ?? new Map<string, string>();
      servers.set(server, tools);
      for (const [tool, fingerprint] of given) tools.set(tool, fingerprint);
      // Other processes write here too: what they have kept meanwhile stays, and only the given is changed.
      const ours = Object.fromEntries([...servers].map(([name, kept]) => [name, Object.fromEntries(kept)]));
      const now = { ...ours, ...read(path) };
      const changed = new Map([...Object.entries(now[server] ?? {}), ...given]);
      write(path, { ...now, [server]: Object.fromEntries(changed) });
    },
  };
}

type Kept = Record<string, Record<string, string>>;

/** Stands for every server that is not named, in a file that was begun anew. No server can be called that. */
const ALL = '*';

/** Undefined where there is something that is no such file. */
function read(path: string): Kept | undefined {
  try {
    const given: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isRecord(given) && Object.values(given).every(isPins) ? (given as Kept) : undefined;
  } catch (error) {
    return (error as { code?: unknown }).code === 'ENOENT' ? {} : undefined;
  }
}

function isPins(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((fingerprint) => typeof fingerprint === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function startOver(path: string, log: Logger): Kept {
  const aside = `${path}.damaged`;
  const kept = { [ALL]: {} };
  const next = 'Each tool of an MCP server is asked about once more.';
  try {
    copyFileSync(path, aside);
    write(path, kept);
    log.warn({}, `${path} is damaged and was put aside as ${aside}. ${next}`);
  } catch (error) {
    log.warn({}, `${path} is damaged and cannot be put aside (${messageOf(error)}): remove it. ${next}`);
  }
  return kept;
}

function write(path: string, kept: Kept): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const next = `${path}.${process.pid}`;
  writeFileSync(next, JSON.stringify(kept, null, 2), { mode: 0o600 });
  renameSync(next, path);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
