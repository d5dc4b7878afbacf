import type { OwnReason, ToolContext } from '../../kernel/tool.ts';

/**
 * Why a person must agree to changing these paths. Nothing for a call that will be refused anyway: nobody is asked
 * about what cannot happen.
 */
export function changeApproval(
  ctx: ToolContext,
  paths: readonly string[],
  { asks = 'overwrite' as 'overwrite' | 'protected' } = {},
): OwnReason | undefined {
  for (const path of paths) {
    const found = ctx.files.inspect(path);
    if (!found.ok) return undefined;
    // Policy sees names; a link with a harmless one may lead here, so no rule about names lifts this.
    if (found.value.protectedBecause !== null) return { reason: found.value.protectedBecause, always: true };
    if (asks === 'overwrite' && found.value.type === 'file' && !found.value.stale)
      return `It changes ${found.value.path}, which exists.`;
  }
  return undefined;
}
