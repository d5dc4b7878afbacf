import { lookup } from 'node:dns/promises';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Dialer, DialledConnection } from '../kernel/world/dialer.ts';
import type { NetworkAccess } from '../kernel/world/sandbox.ts';
import { isListed, isRange, specialKind } from './address.ts';
import { isAllowedHost, listsPort, malformedHost, normalHost } from './hosts.ts';

export interface DialerOptions {
  /** All addresses of a name. Default: the system's resolver. */
  resolve?(host: string): Promise<readonly string[]>;
  /** Connects to an address, never to a name. Default: TCP. */
  connect?(address: string, port: number): Socket;
  readonly connectTimeoutMs?: number;
  /** Ports of this program's own servers, which are never dialled on this machine, whatever is listed. */
  ownPorts?(): readonly number[];
}

export interface HostDialer extends Dialer {
  /** Dials a host whose name was judged before, if every address is public or in `listed`. */
  dialHost(
    target: { host: string; port: number },
    listed: readonly string[],
    signal?: AbortSignal,
  ): Promise<Result<DialledConnection>>;
}

const CONNECT_TIMEOUT_MS = 10_000;

export function createDialer(options: DialerOptions = {}): HostDialer {
  const resolve = options.resolve ?? resolveAll;
  const connect = options.connect ?? ((host, port) => connectSocket({ host, port, autoSelectFamily: false }));
  const timeoutMs = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;

  async function dialHost(
    { host, port }: { host: string; port: number },
    listed: readonly string[],
    signal?: AbortSignal,
  ): Promise<Result<DialledConnection>> {
    const name = normalHost(host);
    const malformed = refuseTarget(name, port);
    if (malformed !== null) return malformed;
    const addresses = await addressesOf(name, resolve);
    if (!addresses.ok) return addresses;
    const refused =
      refuseOwnPort(name, port, addresses.value, options.ownPorts?.() ?? []) ??
      refuseAddresses(name, addresses.value, listed);
    if (refused !== null) return refused;

    let last: Result<never> = fail('NETWORK_ERROR', `${name} has no address: check the spelling.`);
    for (const address of addresses.value) {
      const connected = await established(connect(address, port), timeoutMs, signal);
      if (!connected.ok) {
        last = fail('NETWORK_ERROR', `${name}:${port} could not be reached: ${connected.error.message}`);
        continue;
      }
      // The socket's own remote address counts: an address that was not judged is not used.
      const remote = connected.value.remoteAddress;
      const isOther = remote !== undefined && options.connect === undefined && !isSame(remote, address);
      if (!isOther) return ok({ socket: connected.value, address });
      connected.value.destroy();
      last = fail('PERMISSION_DENIED', `${name}:${port} connected to ${remote} instead of ${address}.`);
    }
    return last;
  }

  return {
    check: checkAccess,
    async dial({ host, port }, access, signal) {
      const name = normalHost(host);
      const refused = refuseTarget(name, port) ?? refuseHost(name, port, access);
      if (refused !== null) return refused;
      // An address in the list allows itself and its port; a name is resolved by its owner's choice.
      const own = isIP(name) === 0 ? [] : [name];
      return dialHost({ host, port }, [...(access.privateAddresses ?? []), ...own], signal);
    },
    dialHost,
  };
}

function checkAccess({ hosts, privateAddresses }: NetworkAccess): Result<null> {
  const host = malformedHost(hosts);
  if (host !== null) {
    return fail('INVALID_INPUT', `'${host}' is not a valid host: write example.org, *.example.org, or host:port.`);
  }
  const range = privateAddresses?.find((entry) => !isRange(entry));
  if (range === undefined) return ok(null);
  return fail('INVALID_INPUT', `'${range}' is not an address: write one such as 10.0.0.5, or a range as 10.0.0.0/8.`);
}

function refuseTarget(name: string, port: number): Result<never> | null {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    return fail('INVALID_INPUT', `${port} is not a port: give one from 1 to 65535.`);
  }
  if (isIP(name) === 0 && !/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(name)) {
    return fail('INVALID_INPUT', 'That is not a host name: use letters, digits, dots and hyphens.');
  }
  return null;
}

function refuseHost(name: string, port: number, access: NetworkAccess): Result<never> | null {
  if (isAllowedHost(name, port, access.hosts)) {
    if (port === 80 || port === 443 || listsPort(name, port, access.hosts)) return null;
    const why = `${name} is an allowed host on the ports 80 and 443 only, because its entry names no port`;
    return fail('PERMISSION_DENIED', `${why}. Ask the user to allow ${withPort(name, port)} as well.`);
  }
  const listed = access.hosts.length === 0 ? 'none is' : `allowed are ${access.hosts.join(', ')}`;
  return fail('PERMISSION_DENIED', `${name}:${port} is not an allowed host (${listed}). Ask the user to allow it.`);
}

function withPort(name: string, port: number): string {
  return isIP(name) === 6 ? `[${name}]:${port}` : `${name}:${port}`;
}

/** Refuses a name with one non-public address: which address is dialled must not be luck. */
function refuseAddresses(name: string, addresses: readonly string[], listed: readonly string[]): Result<never> | null {
  for (const address of addresses) {
    const kind = specialKind(address);
    if (kind === null || isListed(address, listed)) continue;
    const what = `${name} resolves to ${address}, which is not on the public internet (${kind}).`;
    return fail('PERMISSION_DENIED', `${what} If that is intended, the user can list the host in the configuration.`);
  }
  return null;
}

/** Refuses our own server: a call that reached it could approve itself. */
function refuseOwnPort(
  name: string,
  port: number,
  addresses: readonly string[],
  ownPorts: readonly number[],
): Result<never> | null {
  if (!ownPorts.includes(port)) return null;
  const here = Object.values(networkInterfaces()).flatMap((each) => each?.map(({ address }) => address) ?? []);
  const own = addresses.find((address) => specialKind(address) !== null || here.includes(address));
  if (own === undefined) return null;
  return fail('PERMISSION_DENIED', `${name}:${port} is Toolwright's own server, which tools cannot reach.`);
}

async function addressesOf(
  name: string,
  resolve: (host: string) => Promise<readonly string[]>,
): Promise<Result<readonly string[]>> {
  if (isIP(name) !== 0) return ok([name]);
  try {
    return ok(await resolve(name));
  } catch (error) {
    return fail('NETWORK_ERROR', `${name} could not be resolved: ${messageOf(error)}. Check the spelling.`);
  }
}

async function resolveAll(host: string): Promise<string[]> {
  return (await lookup(host, { all: true, verbatim: true })).map(({ address }) => address);
}

function established(socket: Socket, timeoutMs: number, signal: AbortSignal | undefined): Promise<Result<Socket>> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end(`no answer within ${timeoutMs / 1000} s`), timeoutMs);
    const onAbort = () => end('cancelled');
    const onError = (error: Error) => end(error.message);
    function settle(result: Result<Socket>): void {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      socket.off('error', onError);
      resolve(result);
    }
    function end(why: string): void {
      socket.on('error', () => {});
      socket.destroy();
      settle(fail('NETWORK_ERROR', why));
    }
    signal?.addEventListener('abort', onAbort, { once: true });
    socket.once('error', onError);
    socket.once('connect', () => settle(ok(socket)));
    if (signal?.aborted) onAbort();
  });
}

function isSame(a: string, b: string): boolean {
  return a === b || a === `::ffff:${b}` || isListed(a, [b]);
}
