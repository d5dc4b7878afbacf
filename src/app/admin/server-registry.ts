import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OWN_MARK, stateOfProcess } from '../../host/process-identity.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';

interface ServerNote {
  readonly url: string;
  readonly pid: number;
  /** The start time of the process, in the units of the kernel. */
  readonly started: string;
  readonly startedAt: number;
}

/** The short name was written by versions that kept one note for all servers. */
const NOTE = /^server(-[0-9a-f]+)?\.json$/;

/**
 * Writes a note with the address of a server for other processes of this user, and returns a function that removes it.
 * Several servers may share a state directory, so each has its own note; notes of killed processes are removed. Notes
 * hold no secrets.
 */
export function registerServer(stateDir: string, url: string): () => void {
  for (const [path, { pid, started = '' }] of listNotes(stateDir)) {
    if (pid !== undefined && stateOfProcess({ pid, started }) !== 'runs') rmSync(path, { force: true });
  }
  const own: ServerNote = { url, pid: OWN_MARK.pid, started: OWN_MARK.started, startedAt: Date.now() };
  const path = join(stateDir, `server-${randomBytes(6).toString('hex')}.json`);
  writeFileSync(`${path}.new`, `${JSON.stringify(own)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(`${path}.new`, path);
  return () => rmSync(path, { force: true });
}

/** Returns the addresses of this user's servers that have a note. */
function registeredUrls(stateDir: string): string[] {
  return listNotes(stateDir).flatMap(([, { url }]) => (typeof url === 'string' && URL.canParse(url) ? [url] : []));
}

function listNotes(stateDir: string): [path: string, note: Partial<ServerNote>][] {
  try {
    const names = readdirSync(stateDir).filter((name) => NOTE.test(name));
    return names.flatMap((name) => readNote(join(stateDir, name)));
  } catch {
    return [];
  }
}

/** Skips a note that cannot be read: it may just have been removed. */
function readNote(path: string): [path: string, note: Partial<ServerNote>][] {
  try {
    const note: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isPlainObject(note) ? [[path, note]] : [];
  } catch {
    return [];
  }
}

/** A server whose port is taken tries the following ones. */
const TRIED_PORTS = 20;

/**
 * Returns the ports on which a server of this user listens or may listen: a tool that reached one could approve its own
 * calls. They are read on each use, because a server may start later in another process.
 */
export function ownPorts(stateDir: string, configured: number): () => readonly number[] {
  const usual = configured === 0 ? [] : Array.from({ length: TRIED_PORTS }, (_, index) => configured + index);
  return () => [...usual, ...registeredUrls(stateDir).map(portOf)];
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}
