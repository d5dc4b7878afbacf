import type { ServerResponse } from 'node:http';
import { type CallRecord, type Effect, isFinal, type Outcome } from '../../kernel/call/call.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { NO_FLOW } from '../../kernel/call/session-flow.ts';
import type { Failure } from '../../kernel/error.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { StartCall } from '../../protocol/calls.ts';
import { wholeOutputOf } from '../../protocol/command-value.ts';
import type { CallOptions } from '../../runtime/executor.ts';
import { Quota } from '../../runtime/order/quota.ts';
import { newCallId } from '../../runtime/pipeline/call-scope.ts';
import type { Review } from '../../runtime/pipeline/review.ts';
import type { Backend, WorkspaceBackend } from '../backend.ts';
import { type Credential, maySee } from '../credentials.ts';
import { FinishedCalls } from '../finished-calls.ts';
import { type HandlerResponse, type Handlers, json } from '../handler.ts';
import { failureResponse, refuse } from '../problem.ts';
import { firstWorkspace, type SessionInWorkspace, SessionLookup } from '../session-lookup.ts';
import { callDetail, callView } from '../views.ts';

type CallHandlers = Pick<
  Handlers,
  'startCall' | 'getCall' | 'getCallOutput' | 'cancelCall' | 'undoCall' | 'explainCall' | 'listHistory'
>;

/** Calls that the server works on at once, in total and for one token; further ones get 429. */
const MAX_CONCURRENT_CALLS = { max: 1000, share: 250 };
const TOO_MANY = {
  all: 'Too many calls are running: try again soon.',
  own: `Your token has ${MAX_CONCURRENT_CALLS.share} calls running: wait until some have ended.`,
};

export function callRoutes(backend: Backend): CallHandlers {
  const { ledger, recorded } = backend;
  const places = new SessionLookup(backend);
  const underWay = new Quota(MAX_CONCURRENT_CALLS);
  const told = new FinishedCalls([...backend.workspaces.values()].map(({ executor }) => executor));

  async function visible(id: string, who: Credential): Promise<CallRecord | null> {
    const call = await recorded.call(id);
    return call !== null && maySee(who, call.session) ? call : null;
  }

  async function placeOf(session: string, who: Credential): Promise<SessionInWorkspace | undefined> {
    const workspace = await places.find(session, who);
    return workspace === undefined ? undefined : { session, workspace };
  }

  return {
    async startCall({ c, body, who }) {
      const place = await (body.session === undefined ? places.openOwn(who) : placeOf(body.session, who));
      if (place === undefined) return unknownSession(body.session ?? who.sessions?.[0]);
      const tooMany = underWay.take(who.name);
      if (tooMany !== null) return refuse('TOO_MANY_REQUESTS', TOO_MANY[tooMany]);
      const id = newCallId();
      if (body.wait === false) return begun(id, place, body, who);
      told.expect(id);
      const patience = body.key === undefined ? undefined : whileOpen(c.env.outgoing);
      return ended(id, place, body.key, await start(id, place, body, who, { patience }));
    },

    async getCall({ params, who }) {
      const call = await visible(params.id ?? '', who);
      if (call === null) return unknownCall();
      const workspace = (await places.find(call.session, who)) ?? firstWorkspace(backend);
      const tool = workspace.registry.find(call.tool);
      return json(callDetail(call, tool.ok ? tool.value : undefined));
    },

    async getCallOutput({ params, who }) {
      const call = await visible(params.id ?? '', who);
      if (call === null) return unknownCall();
      if (call.outcome === null) return refuse('NOT_FOUND', 'The call has not ended and has no output yet.');
      return outputOf(call.outcome, backend);
    },

    async cancelCall({ params, who }) {
      const call = await visible(params.id ?? '', who);
      if (call === null) return unknownCall();
      if (!(await backend.cancel(call, who.name))) return refuse('CONFLICT', `The call has ended: ${call.state}.`);
      return json(callView((await recorded.call(call.id)) ?? call), 202);
    },

    async undoCall({ params, who }) {
      const id = params.id ?? '';
      const call = await recorded.call(id);
      const found = await places.ofCall(call, who);
      // A call whose log was pruned is known only to a journal; `canUndo` finds which one.
      const place = found.find((each) => each.canUndo(id)) ?? (call === null ? undefined : found[0]);
      if (place === undefined) return unknownCall();
      const undone = await place.undo(id, who.name);
      return undone.ok ? json(undone.value) : failureResponse(undone.error);
    },

    async explainCall({ body, who }) {
      const place = await (body.session === undefined ? places.own(who) : placeOf(body.session, who));
      if (place === undefined) return unknownSession(body.session ?? who.sessions?.[0]);
      const { workspace, session } = place;
      const context = contextFor(workspace.context, { session });
      const reviewed = await workspace.executor.review(body.tool, context, body.args ?? {});
      return reviewed.ok ? json(explanationOf(reviewed.value)) : failureResponse(reviewed.error);
    },

    async listHistory({ query, who }) {
      const { state, order, ...rest } = query;
      if (who.sessions !== null && (rest.session === undefined || !maySee(who, rest.session))) {
        return refuse('FORBIDDEN', `Your token is limited to ${who.sessions.join(', ')}: name one of them as session.`);
      }
      const filters = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
      const page = await ledger.history({
        ...filters,
        newestFirst: order === 'newest',
        ...(state !== undefined && { states: state }),
      });
      return json({ items: page.items.map(callView), next: page.next });
    },
  };

  /** Resolves when the call is stored or over. A repeated key leads to the earlier call, which may still wait. */
  async function begun(
    id: string,
    place: SessionInWorkspace,
    body: StartCall,
    who: Credential,
  ): Promise<HandlerResponse> {
    const toldOfIt = new AbortController();
    const first = await new Promise<string | ToolResult>((resolve) => {
      const onRecorded = (callId: string) => {
        resolve(callId);
        if (callId !== id) toldOfIt.abort();
      };
      start(id, place, body, who, { onRecorded, patience: toldOfIt.signal }).then(resolve, () => resolve(id));
    });
    return typeof first === 'string' ? answer(await recorded.call(first)) : ended(id, place, body.key, first);
  }

  /** Resolves when the call is over. A repeated key leads to the earlier call. */
  async function ended(
    id: string,
    { workspace }: SessionInWorkspace,
    key: string | undefined,
    result: ToolResult,
  ): Promise<HandlerResponse> {
    const known = told.take(id, effectIn(workspace));
    const { callId } = result;
    if (callId === null || callId === id) return answer(known ?? (await recorded.call(id)), result);
    const conflict = keyConflict(result, key);
    return conflict === undefined ? answer(await recorded.call(callId), result) : failureResponse(conflict);
  }

  async function start(
    id: string,
    { session, workspace }: SessionInWorkspace,
    body: StartCall,
    who: Credential,
    { onRecorded, patience }: Pick<CallOptions, 'onRecorded'> & { patience: AbortSignal | undefined },
  ) {
    const agent = who.role === 'agent' ? who.name : undefined;
    const context = contextFor(workspace.context, { session, agent, timeout: body.timeout, dryRun: body.dryRun });
    const { key } = body;
    const options = {
      id,
      ...(key !== undefined && { key }),
      ...(onRecorded && { onRecorded }),
      ...(patience && { patience }),
    };
    try {
      return await workspace.executor.execute(body.tool, context, body.args ?? {}, options);
    } finally {
      underWay.release(who.name);
    }
  }
}

/** The whole output of a call that has ended. */
async function outputOf(outcome: Outcome, { blobs, hideSecrets }: Backend): Promise<HandlerResponse> {
  const whole = wholeOutputOf(outcome);
  if (whole === undefined) return json({ text: outcome.text });
  const kept = await blobs.get(whole);
  if (!kept.ok) return failureResponse(kept.error);
  // Stored unmasked, because the agent continues with it.
  return json({ text: hideSecrets(Buffer.from(kept.value).toString('utf8')) });
}

/** Aborts when the client has its response or has disconnected. */
function whileOpen(outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  if (outgoing.destroyed) gone.abort();
  return gone.signal;
}

function effectIn({ registry }: WorkspaceBackend): (tool: string) => Effect | undefined {
  return (tool) => {
    const found = registry.find(tool);
    return found.ok ? found.value.effect : undefined;
  };
}

/**
 * Puts the real result into the record, which hides secrets: a client that waits for its own call gets what a program
 * gets.
 */
function withResult(call: CallRecord, result: ToolResult): CallRecord {
  if (call.outcome === null) return call;
  const { text } = result;
  const told = result.ok ? { text, value: result.value } : { text };
  return { ...call, outcome: { ...call.outcome, ...told } };
}

/** A failure where the key belongs to another request, whose record would be no answer to this one. */
function keyConflict(result: ToolResult, key: string | undefined): Failure | undefined {
  if (result.ok || result.error.code !== 'CONFLICT') return undefined;
  return result.error.details?.['key'] === key ? result.error : undefined;
}

interface KeyDifferences {
  session: string;
  agent?: string | undefined;
  timeout?: number | undefined;
  dryRun?: boolean | undefined;
}

function explanationOf({ tool, args, verdict: decided, shown, subject }: Review) {
  const { summary, access, verdicts, preview } = shown;
  const { verdict, rule, reason } = decided;
  const { flow = NO_FLOW } = subject;
  return { tool, args, verdict, rule, reason, parts: verdicts, summary, access, preview, flow };
}

function contextFor(base: ExecutionContext, { session, agent, timeout, dryRun }: KeyDifferences): ExecutionContext {
  const { workingDir, maxOutputSize } = base;
  return new ExecutionContext({
    workingDir,
    maxOutputSize,
    timeout: timeout ?? base.timeout,
    sessionId: session,
    agentId: agent ?? null,
    dryRun: dryRun ?? false,
  });
}

function answer(call: CallRecord | null, result?: ToolResult): HandlerResponse {
  if (call === null) return refuse('INTERNAL', 'The call could not be recorded. See the server log.');
  const shown = result === undefined ? call : withResult(call, result);
  const isOver = result !== undefined || isFinal(call.state);
  return json(callView(shown), isOver ? 200 : 202, { Location: `/v1/calls/${call.id}` });
}

function unknownCall(): Response {
  return refuse('NOT_FOUND', 'Unknown call.');
}

function unknownSession(session: string | undefined): Response {
  return refuse('NOT_FOUND', `Unknown session ${session ?? ''}: create one with POST /v1/sessions.`);
}
