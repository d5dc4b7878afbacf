import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject } from '../kernel/tool/check-arguments.ts';
import { isAlive, startOf } from '../workspace/process-start.ts';

interface ServerNote {
  readonly url: string;
  readonly pid: number;
  /** Of the process, in the kernel's own count. */
  readonly started: string;
  readonly startedAt: number;
}

/** The short one was written by versions that kept one for all. */
const NOTE = /^server(-[0-9a-f]+)?\.json$/;

/**
 * Notes where others of this user find a server, and returns how to take that back. Several servers may share a state
 * directory, so each has a note of its own; those that killed processes left are removed. They hold no secret.
 */
export function noteServer(stateDir: string, url: string): () => void {
  for (const [path, { pid, started = '' }] of notesIn(stateDir)) {
    if (pid !== undefined && !isAlive({ pid, started })) rmSync(path, { force: true });
  }
  const own: ServerNote = { url, pid: process.pid, started: startOf(process.pid) ?? '', startedAt: Date.now() };
  const path = join(stateDir, `server-${randomBytes(6).toString('hex')}.json`);
  writeFileSync(`${path}.new`, `${JSON.stringify(own)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(`${path}.new`, path);
  return () => rmSync(path, { force: true });
}

/** What the servers of this user listen on, as far as they are noted. */
export function notedUrls(stateDir: string): string[] {
  return notesIn(stateDir).flatMap(([, { url }]) => (typeof url === 'string' && URL.canParse(url) ? [url] : []));
}

function notesIn(stateDir: string): [path: string, note: Partial<ServerNote>][] {
  try {
    const names = readdirSync(stateDir).filter((name) => NOTE.test(name));
    return names.flatMap((name) => noteAt(join(stateDir, name)));
  } catch {
    return [];
  }
}

/** One that cannot be read may have gone just now. */
function noteAt(path: string): [path: string, note: Partial<ServerNote>][] {
  try {
    const note: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isPlainObject(note) ? [[path, note]] : [];
  } catch {
    return [];
  }
}
