import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { isWalked, liesUnwalked } from '../../kernel/world/file-policy.ts';

/** Names of the folders that are not walked. */
const UNWALKED = /(?:^|\/)(?:node_modules|\.git)(?:\/|$)/i;

/**
 * Whether a symlink may lead into a folder that is not walked, judged by its text: resolving every symlink would take
 * longer. A symlink that leads there through another one need not be found, since that one is.
 */
export function mayLeadUnwalked(path: string, absolute: string | Buffer): boolean {
  if (!isWalked(path)) return false;
  try {
    return UNWALKED.test(`${dirname(path)}/${readlinkSync(absolute)}`);
  } catch {
    return false;
  }
}

/** Whether a folder is walked only when a symlink leads to it or to a folder above. */
export function isUnwalked(folder: string): boolean {
  return !isWalked(folder) || liesUnwalked(folder);
}

/** The folder that a symlink leads to, if it is otherwise not walked; null in other cases. */
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
