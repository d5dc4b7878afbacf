import type { Access } from '../kernel/tool/access.ts';
import type { Shown } from '../kernel/approval.ts';
import { frozenCopy } from '../kernel/plain-copy.ts';
import type { Subject, Verdict } from '../kernel/ports.ts';
import { ok, type Result } from '../kernel/result.ts';
import { propose } from './pipeline/admit.ts';
import { CallContext } from './pipeline/call-context.ts';
import { nextCallId } from './call-id.ts';
import { type CallRequest, CallScope } from './call-scope.ts';
import type { Runtime } from './runtime.ts';
import { show } from './pipeline/present-call.ts';

/** What would happen to a call, without making it. */
export interface Review {
  readonly tool: string;
  /** As they would run: validated, with defaults, after hooks. */
  readonly args: Record<string, unknown>;
  readonly verdict: Verdict;
  /** What policy was asked about. */
  readonly subject: Subject;
  readonly shown: Shown;
  /** What a yes to exactly this would be bound to. */
  readonly digest: string;
}

/** Finds, validates and judges as `executeCall` would, and looks at what it would touch. Records and runs nothing. */
export async function reviewCall(rt: Runtime, request: CallRequest): Promise<Result<Review>> {
  const found = typeof request.tool === 'string' ? rt.find(request.tool) : ok(request.tool);
  if (!found.ok) return found;
  const tool = found.value;
  const call = new CallScope(rt, nextCallId(), { ...request, isReview: true });
  call.toolName = tool.name;
  try {
    const proposal = await propose(rt, call, tool, frozenCopy(request.args));
    if (proposal.kind === 'ending') return proposal.result as Extract<Result<never>, { ok: false }>;
    const { input, verdict, subject, access } = proposal;
    const unusable = verdict.verdict === 'deny' ? undefined : unusablePath(call, access);
    if (unusable !== undefined) return unusable;
    const { shown, digest } = await show(rt, call, { tool, input, access, verdict });
    return ok({ tool: tool.name, args: call.args as Record<string, unknown>, verdict, subject, shown, digest });
  } finally {
    CallContext.end(call.ctx);
  }
}

/** Policy knows names alone: that a path leads out of the workspace, or is none, is for the workspace to say. */
function unusablePath(call: CallScope, access: readonly Access[]): Result<never> | undefined {
  for (const each of access) {
    if (!('path' in each)) continue;
    const found = call.ctx.files.inspect(each.path);
    if (!found.ok && found.error.code === 'INVALID_PATH') return found;
  }
  return undefined;
}
