import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { isWalked, liesUnwalked } from '../../kernel/file-policy.ts';

/** The names that folders which are not walked have, or lie in. */
const UNWALKED = /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/i;

/**
 * Whether a link may lead into a folder that is not walked, by what it says: to resolve every link would take longer. One
 * that leads there by another link need not tell, since that one does.
 */
export function mayLeadUnwalked(path: string, absolute: string | Buffer): boolean {
  if (!isWalked(path)) return false;
  try {
    return UNWALKED.test(`${dirname(path)}/${readlinkSync(absolute)}`);
  } catch {
    return false;
  }
}

/** Whether a folder is looked at only when a link leads to it or to one above. */
export function isUnwalked(folder: string): boolean {
  return !isWalked(folder) || liesUnwalked(folder);
}

/** The folder that a link leads to, if it lies where nothing is walked; null otherwise. */
export function unwalkedTarget(workspace: string, link: string): string | null {
  try {
    const real = realpathSync.native(`${workspace}/${link}`);
    if (!real.startsWith(`${workspace}/`) || !lstatSync(real).isDirectory()) return null;
    const path = real.slice(workspace.length + 1);
    return isUnwalked(path) ? path : null;
  } catch {
    return null;
  }
}
