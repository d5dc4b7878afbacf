import { posix } from 'node:path';
import type { RealPath } from '../../kernel/ports.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { Files } from '../../kernel/world/workspace.ts';

/**
 * Resolves the paths of an access. Symlinks are followed, except in a delete or move, which acts on the link itself.
 */
export function resolveSymlinks(access: readonly Access[], files: Files): ReadonlyMap<Access, RealPath> {
  const places = new Map<Access, RealPath>();
  for (const each of access) {
    if (!('path' in each)) continue;
    const place = each.kind === 'fs.delete' ? itself(each.path, files) : followed(each.path, files);
    if (place !== undefined) places.set(each, place);
  }
  // A call that moves a folder puts it where it writes.
  const takesFolder = access.some((each) => each.kind === 'fs.delete' && places.get(each)?.folder);
  for (const [each, { path }] of takesFolder ? places : []) {
    if (each.kind === 'fs.write') places.set(each, { path, folder: true });
  }
  return places;
}

function followed(path: string, files: Files): RealPath | undefined {
  const found = files.inspect(path);
  if (!found.ok) return undefined;
  return { path: found.value.path === '.' ? '' : found.value.path, folder: found.value.type === 'directory' };
}

function itself(path: string, files: Files): RealPath | undefined {
  const plain = posix.normalize(path).replace(/\/+$/, '');
  const [above, name] = [posix.dirname(plain), posix.basename(plain)];
  const target = followed(path, files);
  if (name === '' || name === '.' || name === '..') return target;
  const folder = followed(above, files);
  if (folder === undefined) return undefined;
  const real = posix.join(folder.path, name);
  return { path: real, folder: target?.path === real && target.folder };
}
