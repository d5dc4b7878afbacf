import type { Result } from '../result.ts';
import type { NetworkAccess } from './sandbox.ts';

/** A TCP socket, as far as anybody but its maker needs it. */
export type Connection = NodeJS.ReadWriteStream & { destroy(): unknown };

export interface Dialled {
  readonly socket: Connection;
  readonly address: string;
}

/**
 * Opens TCP connections to checked addresses only. Contract: resolves the host once, judges every address, and
 * connects to one it judged, so that a second answer of the name server changes nothing. PERMISSION_DENIED when the
 * host is not allowed or an address is not public, NETWORK_ERROR when it cannot be reached.
 */
export interface Dialer {
  /** Refuses with INVALID_INPUT an access that has an entry it does not understand; so nobody relies on one. */
  check?(access: NetworkAccess): Result<null>;
  dial(target: { host: string; port: number }, access: NetworkAccess, signal?: AbortSignal): Promise<Result<Dialled>>;
}
