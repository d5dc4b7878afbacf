import { hash } from 'node:crypto';
import { storedName } from '../kernel/call/stored-name.ts';

/** Everything a caller names passes here once on its way in: what is written and what is looked for. */
export function nameOf(name: string): string {
  return storedName(name, sha256);
}

export function maybeName(name: string | null): string | null {
  return name === null ? null : storedName(name, sha256);
}

function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}
