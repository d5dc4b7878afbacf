import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { CallRequest } from '../pipeline/call-scope.ts';
import type { Runtime } from '../runtime.ts';

/**
 * Finds the tool of a request by its name or alias. A tool that only the runtime uses is found by a call inside another
 * one, by the takeover of a call, and by the review of its arguments, which runs nothing; for everybody else there is no
 * such tool.
 */
export function findTool(rt: Runtime, { tool, parent, resume, isReview }: CallRequest): Result<Tool> {
  if (typeof tool !== 'string') return ok(tool);
  const isInside = parent !== undefined || resume !== undefined || isReview === true;
  const own = isInside ? rt.madeByRuntime() : undefined;
  if (own?.name === tool) return ok(own);
  const found = rt.find(tool);
  if (isInside || !found.ok || found.value.madeBy === undefined) return found;
  return fail('UNKNOWN_TOOL', `Unknown tool: ${tool}`, { suggestions: [] });
}
