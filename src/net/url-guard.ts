import { isIP } from 'node:net';
import { fail, ok, type Result } from '../kernel/result.ts';
import { isListed, isRange, specialKind } from './address.ts';
import { isAllowedHost, listsPort, malformedHost, normalHost } from './hosts.ts';

export interface UrlGuardOptions {
  /** `example.org`, `*.example.org`, `example.org:8443`: only an entry with a port opens one besides 80 and 443. */
  readonly allowedHosts?: readonly string[];
  /**
   * Hosts, addresses and ranges that may be reached although they are not on the public internet: a host allows its
   * private
   * addresses, an address also loopback. A host or an address may name a port. Addresses and ranges apply to URLs
   * written
   * with them and to listed hosts: any other name may lead wherever its owner likes.
   */
  readonly privateHosts?: readonly string[];
  ownPorts?(): readonly number[];
}

/** Judges a URL before any lookup. Policy and every hop of a fetch use the same judgement. */
export interface UrlGuard {
  /** Fails with INVALID_INPUT for an invalid URL, PERMISSION_DENIED for one that is never fetched. */
  check(url: string | URL): Result<URL>;
  /** Non-public addresses that this URL's host may have. */
  listedFor(url: URL): readonly string[];
}

/**
 * Addresses allowed for a listed host: an address allows itself, a name the private ranges, or loopback for localhost.
 */
export function ownAddresses(host: string): readonly string[] {
  if (isIP(host) !== 0) return [host];
  return /(^|\.)localhost$/.test(host) ? LOOPBACK : ANY_PRIVATE;
}

/** Ranges of private networks. Loopback and link-local addresses are reached only where they are listed. */
const ANY_PRIVATE: readonly string[] = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', 'fc00::/7'];
export const LOOPBACK: readonly string[] = ['127.0.0.0/8', '::1'];
const LOCAL_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/** Throws for an invalid entry: a mistyped list must not be relied on. */
export function createUrlGuard(options: UrlGuardOptions = {}): UrlGuard {
  const { allowedHosts = [], privateHosts = [] } = options;
  const wrong = malformedHost(allowedHosts) ?? malformedPrivateHost(privateHosts);
  if (wrong !== null)
    throw new TypeError(`'${wrong}' is not a valid host: write example.org, *.example.org or host:port.`);
  const ranges = privateHosts.filter(isRange);
  const hosts = privateHosts.filter((entry) => !isRange(entry) || isIP(entry) !== 0);

  function listedFor(url: URL): readonly string[] {
    const [host, port] = [normalHost(url.hostname), portOf(url)];
    const isName = isIP(host) === 0;
    if (!isAllowedHost(host, port, hosts)) return isName ? [] : ranges;
    return [...ranges, ...ownAddresses(host)];
  }

  function refusal(url: URL): string | null {
    const [host, port] = [normalHost(url.hostname), portOf(url)];
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      return `Only http and https are fetched, not ${url.protocol.slice(0, 40)}`;
    }
    if (url.username !== '' || url.password !== '') {
      return 'A URL with a user name or password is not fetched: remove the part before the @.';
    }
    if (host === '') return 'The URL has no host.';
    const listed = listedFor(url);
    if (LOCAL_NAME.test(host) && !isAllowedHost(host, port, hosts)) {
      return `${host} is a name of this machine or network, not of the public internet. ${LIST_IT}`;
    }
    const kind = isIP(host) === 0 ? null : specialKind(host);
    if (kind !== null && (options.ownPorts?.() ?? []).includes(port)) {
      return `${host}:${port} is Toolwright's own server, which tools cannot reach.`;
    }
    if (kind !== null && !isListed(host, listed)) return `${host} is not on the public internet (${kind}). ${LIST_IT}`;
    if (port !== 80 && port !== 443 && !listsPort(host, port, [...allowedHosts, ...hosts])) {
      return `Port ${port} is not fetched: only 80 and 443 are, unless allowedHosts, privateHosts or a rule names ${host}:${port}.`;
    }
    return null;
  }

  return {
    listedFor,
    check(given) {
      const text = String(given);
      if (!URL.canParse(text)) return fail('INVALID_INPUT', `Invalid URL: ${text.slice(0, 200)}`);
      const url = new URL(text);
      const why = refusal(url);
      return why === null ? ok(url) : fail('PERMISSION_DENIED', why, { url: url.href.slice(0, 500) });
    },
  };
}

const LIST_IT =
  'To allow it, the user can add it to the setting privateHosts, or name it in full in an allow rule of the configuration.';

/** Returns the first entry that is neither a host nor an address nor a range. */
export function malformedPrivateHost(entries: readonly string[]): string | null {
  return entries.find((entry) => !isRange(entry) && malformedHost([entry]) !== null) ?? null;
}

export function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port);
  return url.protocol === 'https:' ? 443 : 80;
}
