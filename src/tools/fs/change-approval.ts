import type { ToolContext } from '../../kernel/tool.ts';

/**
 * Why a person must agree to changing these paths. Nothing for a path that will be refused anyway: nobody is asked
 * about what cannot happen. `refusesStale` says that a file which changed since the session read it is such a path.
 */
export function changeApproval(
  ctx: ToolContext,
  paths: readonly string[],
  { asks = 'overwrite' as 'overwrite' | 'protected', refusesStale = false } = {},
): string | undefined {
  for (const path of paths) {
    const found = ctx.files.inspect(path);
    if (!found.ok) continue;
    if (found.value.protectedBecause !== null) return found.value.protectedBecause;
    if (asks === 'overwrite' && found.value.type === 'file' && !(refusesStale && found.value.stale))
      return `It changes ${found.value.path}, which exists.`;
  }
  return undefined;
}
