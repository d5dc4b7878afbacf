import type { IncomingMessage } from 'node:http';
import type { Trouble } from './problem.ts';

export interface Doorway {
  /** Hosts, with their port, by which this server may be called. Anything else is somebody's DNS trick. */
  readonly hosts: ReadonlySet<string>;
  /** Origins of pages that may talk to it: its own. */
  readonly origins: ReadonlySet<string>;
}

interface Place {
  readonly scheme: 'http' | 'https';
  readonly host: string;
  readonly port: number;
  readonly publicUrl: string | undefined;
}

const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];
const USUAL_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** By which names clients come to this place: in small letters, and where the port is the usual one, without it. */
export function doorwayOf({ scheme, host, port, publicUrl }: Place): Doorway {
  // What follows % is which link an address is of: it holds on this machine alone.
  const own = host.includes(':') ? `[${host.replace(/%.*/, '')}]` : host;
  const named = host === '0.0.0.0' || host === '::' ? LOOPBACK : [...LOOPBACK, own];
  const addresses = [
    ...named.map((name) => `${scheme}://${name}:${port}`),
    ...(publicUrl === undefined ? [] : [publicUrl]),
  ];
  const urls = addresses.filter((address) => URL.canParse(address)).map((address) => new URL(address));
  const withPort = (url: URL) => `${url.hostname}:${url.port || USUAL_PORTS[url.protocol]}`;
  return {
    hosts: new Set(urls.flatMap((url) => [url.host, withPort(url)])),
    origins: new Set(urls.map(({ origin }) => origin)),
  };
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
