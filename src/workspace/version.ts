import { createHash } from 'node:crypto';

/** The hash of the content, as journals and blob stores know it. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** What a caller is told of it: short enough for a model to repeat, long enough not to meet by chance. */
export function versionOf(digest: string): string {
  return digest.slice(0, 16);
}
