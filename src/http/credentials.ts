import { hash } from 'node:crypto';
import { ROLES, type Role } from '../protocol/health.ts';

/** The identity of a client. Its permissions come from here, never from the request. */
export interface Credential {
  readonly name: string;
  readonly role: Role;
  /** Sessions the token is limited to; null for all. */
  readonly sessions: readonly string[] | null;
}

export interface Credentials {
  /** Looks a credential up by the SHA-256 of its token in hex, so that the comparison leaks nothing about the token. */
  find(tokenHash: string): Credential | undefined;
  /** Replaces the server's own token and returns the new one; null where the server does not own the token. */
  rotate(): Promise<string | null>;
  /** Calls the listener when a token is revoked or its permissions change. */
  onRevoked(listener: (tokenHash: string) => void): () => void;
}

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}

export function mayDo(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) >= ROLES.indexOf(needed);
}

export function maySee({ sessions }: Credential, session: string): boolean {
  return sessions === null || sessions.includes(session);
}
