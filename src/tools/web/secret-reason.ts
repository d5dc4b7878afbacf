import type { OwnReason } from '../../kernel/tool/plan.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';

/** Requires approval, whatever the rules say, for a request that contains a value of a sensitive file. */
export async function secretReason(texts: readonly string[], ctx: ToolContext): Promise<OwnReason | undefined> {
  const file = await ctx.files.secretIn(texts.join('\n'));
  if (file === null) return undefined;
  return { reason: `The request would send out a value from ${file}.`, always: true };
}
