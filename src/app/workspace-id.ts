import { createHash } from 'node:crypto';
import { basename } from 'node:path';

/** A name that holds wherever the folder has this path, and that shows only the last part of it. */
export function workspaceId(root: string): string {
  const name = basename(root).replace(/[^A-Za-z0-9._-]+/g, '-') || 'root';
  return `${name}-${createHash('sha256').update(root).digest('hex').slice(0, 8)}`;
}
