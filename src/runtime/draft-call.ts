import { frozenCopy } from '../kernel/plain-copy.ts';
import type { Draft } from '../kernel/tool/view.ts';
import { propose } from './pipeline/admit.ts';
import { CallContext } from './pipeline/call-context.ts';
import { nextCallId } from './call-id.ts';
import { type CallRequest, CallScope } from './call-scope.ts';
import type { Runtime } from './runtime.ts';

/** The text file a call would leave, for a person who may edit it first; undefined where there is none. Changes nothing. */
export async function draftCall(rt: Runtime, request: CallRequest): Promise<Draft | undefined> {
  const found = typeof request.tool === 'string' ? rt.find(request.tool) : undefined;
  const tool = found?.ok ? found.value : undefined;
  if (tool?.draft === undefined) return undefined;
  const call = new CallScope(rt, nextCallId(), request);
  call.toolName = tool.name;
  try {
    const proposal = await propose(rt, call, tool, frozenCopy(request.args));
    if (proposal.kind === 'ending') return undefined;
    return await call.bounded(tool.draft(proposal.input, call.ctx));
  } catch (thrown) {
    rt.log.warn(
      { tool: tool.name, thrown: String(thrown) },
      'A draft could not be made; the arguments are shown instead.',
    );
    return undefined;
  } finally {
    CallContext.end(call.ctx);
  }
}
