import type { Server } from '@modelcontextprotocol/server';

/** One client: a process at the other end of a pipe, or whoever sends HTTP requests in the same session. */
export interface Connection {
  /** The 2025 revisions are `legacy`: a handshake, a session, and requests in both directions. */
  readonly era: 'legacy' | 'modern';
  /** Where its calls are recorded. */
  readonly session: string;
  readonly server: Server;
  /** Ids of its calls, which end with it. */
  readonly calls: Set<string>;
  /** Uris of the resources it wants to hear of; `legacy` only. */
  readonly subscribed: Set<string>;
}
