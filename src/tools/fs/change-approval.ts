import type { OwnReason, ToolContext } from '../../kernel/tool/tool.ts';

/**
 * Why changing these paths needs approval. Nothing for a path that will be refused anyway, since there is nothing to
 * approve. `refusesStale`: a file that changed since the session read it is such a path.
 */
export function changeApproval(
  ctx: ToolContext,
  paths: readonly string[],
  { asks = 'overwrite' as 'overwrite' | 'protected', refusesStale = false } = {},
): OwnReason | undefined {
  const found = paths.flatMap((path) => {
    const inspected = ctx.files.inspect(path);
    return inspected.ok ? [inspected.value] : [];
  });
  // Policy sees names, and a symlink with a harmless name may lead here, so no rule about names lifts this.
  const guarded = found.find(({ protectedBecause }) => protectedBecause !== null);
  if (guarded !== undefined) return { reason: guarded.protectedBecause ?? '', always: true };
  const existing = found.find(({ type, stale }) => type === 'file' && !(refusesStale && stale));
  return asks === 'overwrite' && existing !== undefined ? `It changes ${existing.path}, which exists.` : undefined;
}
