import type { Server } from '@modelcontextprotocol/server';

/** One client: a process at the other end of a pipe, or the sender of HTTP requests in one session. */
export interface Connection {
  /** The 2025 revisions are `legacy`: a handshake, a session, and requests in both directions. */
  readonly era: 'legacy' | 'modern';
  /** Session that records its calls. */
  readonly session: string;
  readonly server: Server;
  /** Ids of its calls, which end with the connection. */
  readonly calls: Set<string>;
  /** URIs of the resources it subscribed to; `legacy` only. */
  readonly subscribed: Set<string>;
}
