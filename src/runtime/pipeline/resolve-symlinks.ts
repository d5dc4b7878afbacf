import type { RealPath } from '../../kernel/ports.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import type { Files, PlannedPlace } from '../../kernel/world/workspace.ts';

/**
 * Resolves the paths of an access. Symlinks are followed, except in a delete or move, which acts on the link itself.
 */
export function resolveSymlinks(access: readonly Access[], files: Files): ReadonlyMap<Access, RealPath> {
  const places = new Map<Access, RealPath>();
  for (const each of access) {
    if (!('path' in each)) continue;
    const found = files.inspect(each.path, each.kind === 'fs.delete' ? 'keep' : 'follow');
    if (!found.ok) continue;
    const { path, type } = found.value;
    places.set(each, { path: path === '.' ? '' : path, folder: type === 'directory' });
  }
  // A call that moves a folder puts it where it writes.
  const takesFolder = access.some((each) => each.kind === 'fs.delete' && places.get(each)?.folder);
  for (const [each, { path }] of takesFolder ? places : []) {
    if (each.kind === 'fs.write') places.set(each, { path, folder: true });
  }
  return places;
}

/**
 * Returns where the paths of an access lead that a call may change. Its tool makes no plan, so it may change a symlink as well
 * as the file that the symlink leads to. Undefined when it changes none.
 */
export function placesOf(access: readonly Access[], ctx: Pick<ToolContext, 'files'>): PlannedPlace[] | undefined {
  let places: PlannedPlace[] | undefined;
  for (const each of access) {
    if (each.kind !== 'fs.write' && each.kind !== 'fs.delete') continue;
    const found = [ctx.files.inspect(each.path), ctx.files.inspect(each.path, 'keep')].flatMap((one) =>
      one.ok ? [one.value] : [],
    );
    const protectedBecause = found.find((one) => one.protectedBecause !== null)?.protectedBecause ?? null;
    places ??= [];
    places.push({ given: each.path, paths: found.map(({ path }) => path), protectedBecause });
  }
  return places;
}
