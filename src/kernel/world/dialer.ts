import type { Result } from '../result.ts';
import type { NetworkAccess } from './sandbox.ts';

/** The part of a TCP socket that callers need. */
export type Connection = NodeJS.ReadWriteStream & { destroy(): unknown };

export interface DialledConnection {
  readonly socket: Connection;
  readonly address: string;
}

/**
 * Opens TCP connections to checked addresses only. Contract: resolves the host once, judges every address, and
 * connects to one it judged, so that a second answer of the name server changes nothing. PERMISSION_DENIED when the
 * host is not allowed or an address is not public, NETWORK_ERROR when it cannot be reached.
 */
export interface Dialer {
  /** Refuses with INVALID_INPUT an access with an entry it does not understand, so that no caller relies on it. */
  check?(access: NetworkAccess): Result<null>;
  dial(
    target: { host: string; port: number },
    access: NetworkAccess,
    signal?: AbortSignal,
  ): Promise<Result<DialledConnection>>;
}
