import type { Shown } from '../kernel/approval.ts';
import { frozenCopy } from '../kernel/plain-copy.ts';
import type { Subject, Verdict } from '../kernel/ports.ts';
import { ok, type Result } from '../kernel/result.ts';
import { propose } from './admit.ts';
import { CallContext } from './call-context.ts';
import { nextCallId } from './call-id.ts';
import { type CallRequest, CallScope } from './call-scope.ts';
import type { Runtime } from './runtime.ts';
import { show } from './show.ts';

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
  const call = new CallScope(rt, nextCallId(), request);
  call.toolName = tool.name;
  try {
    const proposal = await propose(rt, call, tool, frozenCopy(request.args));
    if (proposal.kind === 'ending') return proposal.result as Extract<Result<never>, { ok: false }>;
    const { input, verdict, subject } = proposal;
    const { shown, digest } = await show(rt, call, { tool, input, access: proposal.access, verdict });
    return ok({ tool: tool.name, args: call.args as Record<string, unknown>, verdict, subject, shown, digest });
  } finally {
    CallContext.end(call.ctx);
  }
}
