import { notedUrls } from './server-notes.ts';

/** When the port is taken, a server tries the ones behind it. */
const TRIED = 20;

/**
 * Ports on which a Toolwright of this user listens or may listen: a tool that reached one could answer the questions that
 * are asked about it. Read when asked, since a server may start later, in another process.
 */
export function ownPorts(stateDir: string, configured: number): () => readonly number[] {
  const usual = configured === 0 ? [] : Array.from({ length: TRIED }, (_, index) => configured + index);
  return () => [...usual, ...notedUrls(stateDir).map(portOf)];
}

function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return Number(port) || (protocol === 'https:' ? 443 : 80);
}
