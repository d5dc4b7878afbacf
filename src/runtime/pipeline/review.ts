import type { PresentedCall } from '../../kernel/call/approval.ts';
import { frozenCopy } from '../../kernel/plain-copy.ts';
import type { Subject, Verdict } from '../../kernel/ports.ts';
import { ok, type Result } from '../../kernel/result.ts';
import type { Access } from '../../kernel/tool/access.ts';
import type { Draft } from '../../kernel/tool/view.ts';
import { findTool } from '../registry/find-tool.ts';
import type { Runtime } from '../runtime.ts';
import { propose } from './admit.ts';
import { CallContext } from './call-context.ts';
import { type CallRequest, CallScope, nextCallId } from './call-scope.ts';
import { presentCall } from './present-call.ts';

/** The judgement of a call that is not made. */
export interface Review {
  readonly tool: string;
  /** The arguments as they would run: validated, with defaults, after hooks. */
  readonly args: Record<string, unknown>;
  readonly verdict: Verdict;
  /** The subject that policy judged. */
  readonly subject: Subject;
  readonly shown: PresentedCall;
  /** The approval digest of exactly this call. */
  readonly digest: string;
}

/** Finds, validates and judges a call as `executeCall` would, and presents it. Records and runs nothing. */
export async function reviewCall(rt: Runtime, request: CallRequest): Promise<Result<Review>> {
  const call = new CallScope(rt, nextCallId(), { ...request, isReview: true });
  const found = findTool(rt, call.request);
  if (!found.ok) return found;
  const tool = found.value;
  call.toolName = tool.name;
  try {
    const planned = await propose(rt, call, { tool, args: frozenCopy(request.args) });
    if (planned.kind === 'ending') return planned.result as Extract<Result<never>, { ok: false }>;
    const { verdict, subject } = planned;
    const unusable = verdict.verdict === 'deny' ? undefined : unusablePath(call, subject.access);
    if (unusable !== undefined) return unusable;
    const { shown, digest } = await presentCall(call, planned);
    return ok({ tool: tool.name, args: call.args as Record<string, unknown>, verdict, subject, shown, digest });
  } finally {
    CallContext.end(call.ctx);
  }
}

/** Asks the workspace for paths that are invalid or lead out of it: policy knows names alone. */
function unusablePath(call: CallScope, access: readonly Access[]): Result<never> | undefined {
  for (const each of access) {
    if (!('path' in each)) continue;
    const found = call.ctx.files.inspect(each.path);
    if (!found.ok && found.error.code === 'INVALID_PATH') return found;
  }
  return undefined;
}

/**
 * Returns the text file that a call would write, for a person who may edit it first; undefined without one. Changes
 * nothing.
 */
export async function draftCall(rt: Runtime, request: CallRequest): Promise<Draft | undefined> {
  const call = new CallScope(rt, nextCallId(), { ...request, isReview: true });
  const found = findTool(rt, call.request);
  const tool = found.ok ? found.value : undefined;
  if (tool?.plan === undefined) return undefined;
  call.toolName = tool.name;
  try {
    const planned = await propose(rt, call, { tool, args: frozenCopy(request.args) });
    return planned.kind === 'ending' ? undefined : planned.derived?.draft();
  } catch (thrown) {
    rt.log.warn({ tool: tool.name, thrown: String(thrown) }, 'The draft failed; the arguments are shown instead.');
    return undefined;
  } finally {
    CallContext.end(call.ctx);
  }
}
