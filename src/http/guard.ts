import type { IncomingMessage } from 'node:http';
import type { Trouble } from './problem.ts';

export interface Doorway {
  /** Hosts, with their port, by which this server may be called. Anything else is somebody's DNS trick. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of pages that may talk to it: its own. */
  readonly origins: ReadonlySet<string>;
}

/**
 * Looked at before anything else, a token included: a page of another origin, or a name that was made to point at this
 * machine, gets no further. Undefined when the request may come in.
 */
export function turnAway(
  request: IncomingMessage,
  { hosts, origins }: Doorway,
): (Trouble & { status: number }) | undefined {
  const { url = '', headers, rawHeaders } = request;
  if (!url.startsWith('/')) return away(400, 'The request must name a path, not a whole address.');
  const named = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === 'host').length;
  if (named !== 1) return away(400, 'The request must name one host.');
  if (!hosts.has((headers.host ?? '').toLowerCase())) {
    return away(421, `This server does not answer to that host. Use ${[...hosts][0]}, or name the host in publicUrl.`);
  }
  const { origin } = headers;
  if (origin !== undefined && !origins.has(origin)) {
    return away(403, 'Pages of another origin may not use this server.');
  }
  const site = headers['sec-fetch-site'];
  if (
    origin === undefined &&
    (site === 'cross-site' || site === 'same-site') &&
    headers['sec-fetch-mode'] !== 'navigate'
  ) {
    return away(403, 'Pages of another site may not use this server.');
  }
  return undefined;
}

function away(status: number, message: string): Trouble & { status: number } {
  return { status, code: status === 403 ? 'FORBIDDEN' : 'INVALID_INPUT', message };
}
