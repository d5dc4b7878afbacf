import { hash } from 'node:crypto';
import { copyFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Tool as ListedTool } from '@modelcontextprotocol/client';
import { errnoOf } from '../../host/errno.ts';
import { makePrivateFolder } from '../../host/private-folder.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Logger } from '../../kernel/ports.ts';

/** Fingerprints of each server's tools as a person last approved them, by adding the server or approving a call. */
export interface ToolPins {
  /** Returns undefined for a server that was never seen. */
  known(server: string): ReadonlyMap<string, string> | undefined;
  keep(server: string, fingerprints: Iterable<readonly [tool: string, fingerprint: string]>): void;
}

/** Hashes everything a model or a person reads of a tool. */
export function fingerprintOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: ListedTool): string {
  const seen = { name, title, description, inputSchema, outputSchema, annotations };
  return hash('sha256', canonical(seen), 'base64url');
}

/**
 * Keeps pins in a file of the state folder. An unreadable file is put aside, and from then on no tool counts as
 * approved:
 * otherwise tools that changed meanwhile would count as newly added.
 */
export function openToolPins(path: string, log: Logger): ToolPins {
  const kept = read(path) ?? startOver(path, log);
  const servers = new Map(Object.entries(kept).map(([name, tools]) => [name, new Map(Object.entries(tools))]));
  return {
    known: (server) => servers.get(server) ?? servers.get(ANY_SERVER),
    keep(server, fingerprints) {
      const given = [...fingerprints];
      const tools = servers.get(server) ?? new Map<string, string>();
      servers.set(server, tools);
      for (const [tool, fingerprint] of given) tools.set(tool, fingerprint);
      // Other processes write this file too: their entries stay, and only the given one changes.
      const ours = Object.fromEntries([...servers].map(([name, kept]) => [name, Object.fromEntries(kept)]));
      const now = { ...ours, ...read(path) };
      const changed = new Map([...Object.entries(now[server] ?? {}), ...given]);
      write(path, { ...now, [server]: Object.fromEntries(changed) });
    },
  };
}

type PinFile = Record<string, Record<string, string>>;

/** Stands for every server without an entry, in a file that was started over. No server can have this name. */
const ANY_SERVER = '*';

/** Returns undefined where the file is not a pin file. */
function read(path: string): PinFile | undefined {
  try {
    const given: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isRecord(given) && Object.values(given).every(isPins) ? (given as PinFile) : undefined;
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? {} : undefined;
  }
}

function isPins(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((fingerprint) => typeof fingerprint === 'string');
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function startOver(path: string, log: Logger): PinFile {
  const aside = `${path}.damaged`;
  const kept = { [ANY_SERVER]: {} };
  const next = 'Each tool of an MCP server needs approval once more.';
  try {
    copyFileSync(path, aside);
    write(path, kept);
    log.warn({}, `${path} is damaged and was put aside as ${aside}. ${next}`);
  } catch (error) {
    log.warn({}, `${path} is damaged and cannot be put aside (${messageOf(error)}): remove it. ${next}`);
  }
  return kept;
}

function write(path: string, kept: PinFile): void {
  makePrivateFolder(dirname(path));
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
