import { KEEPING_TOOL } from '../kernel/tool/kept-changes.ts';

/**
 * Returns the id of the command whose changes a call keeps; undefined for every other call. People see such a call as a
 * part of that command.
 */
export function commandOfKeeping({
  tool,
  args,
}: {
  readonly tool: string;
  readonly args: unknown;
}): string | undefined {
  if (tool !== KEEPING_TOOL) return undefined;
  const { call } = (args ?? {}) as { call?: unknown };
  return typeof call === 'string' ? call : undefined;
}
