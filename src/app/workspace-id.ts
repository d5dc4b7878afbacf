import { hash } from 'node:crypto';
import { basename } from 'node:path';

/** Returns an id that depends on the path alone and shows only its last part. */
export function workspaceId(root: string): string {
  const name = basename(root).replace(/[^A-Za-z0-9._-]+/g, '-') || 'root';
  return `${name}-${hash('sha256', root, 'hex').slice(0, 8)}`;
}
