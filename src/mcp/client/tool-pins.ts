import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Tool as ListedTool } from '@modelcontextprotocol/client';

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

/** Kept in a file of the state folder. A file that cannot be read counts as none: then everything is new. */
export function openToolPins(path: string): ToolPins {
  const servers = new Map(Object.entries(read(path)).map(([name, tools]) => [name, new Map(Object.entries(tools))]));
  return {
    known: (server) => servers.get(server),
    keep(server, fingerprints) {
      const tools = servers.get(server) ?? new Map<string, string>();
      servers.set(server, tools);
      for (const [tool, fingerprint] of fingerprints) tools.set(tool, fingerprint);
      write(path, Object.fromEntries([...servers].map(([name, kept]) => [name, Object.fromEntries(kept)])));
    },
  };
}

type Kept = Record<string, Record<string, string>>;

function read(path: string): Kept {
  try {
    const given: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return typeof given === 'object' && given !== null ? (given as Kept) : {};
  } catch {
    return {};
  }
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
