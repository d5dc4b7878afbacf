import { hash } from 'node:crypto';
import { ROLES, type Role } from '../protocol/health.ts';

/** Who somebody is to this server. What they may do comes from here, never from what they say. */
export interface Credential {
  readonly name: string;
  readonly role: Role;
  /** Sessions it is limited to; null for all. */
  readonly sessions: readonly string[] | null;
}

export interface Credentials {
  /** By the SHA-256 of the token in hex, so that comparing tells nothing of the token. */
  find(tokenHash: string): Credential | undefined;
  /** Replaces the server's own token and returns the new one; null where it is not the server's to change. */
  rotate(): Promise<string | null>;
  /** Told when a token stops counting, or counts for something else than before. */
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
