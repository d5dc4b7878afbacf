import type { OwnReason, ToolContext } from '../../kernel/tool/tool.ts';

/** A person is asked about anything that would carry a value of a sensitive file out, whatever the rules say. */
export async function secretReason(texts: readonly string[], ctx: ToolContext): Promise<OwnReason | undefined> {
  const file = await ctx.files.secretIn(texts.join('\n'));
  if (file === null) return undefined;
  return { reason: `The request carries a value that stands in ${file}, and would send it out.`, always: true };
}
