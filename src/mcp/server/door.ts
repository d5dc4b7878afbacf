import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type Implementation,
  ProtocolError,
  ProtocolErrorCode,
  type RequestStateCodec,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Event } from '../../kernel/call/event.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { ToolExecutor } from '../../runtime/executor.ts';
import { newCallId } from '../../runtime/pipeline/call-scope.ts';
import type { McpApprover } from './approver.ts';
import { ANSWER_SECONDS, ClientCall, type FinishedClientCall } from './client-call.ts';
import type { Connection } from './connection.ts';
import type { Resources } from './resources.ts';

export interface DoorOptions {
  readonly executor: ToolExecutor;
  /** Context of the calls; each connection gets its own session. */
  readonly context: ExecutionContext;
  /** The approver the executor uses. */
  readonly approver: McpApprover;
  readonly version: string;
  readonly name?: string;
  readonly instructions?: string;
  readonly resources?: Resources;
  /** Called when a session begins, before its first call. */
  onSession?(session: string, client: string): void;
  /** Adds features to a server, such as prompts; called before it is connected. */
  extend?(server: Server): void;
}

/** Metadata under `mcp` in the context of a tool that was called through this server. */
export interface McpCaller {
  readonly capabilities: ClientCapabilities;
  readonly ask: ClientCall['ask'];
  readonly request: Pick<ServerContext['mcpReq'], 'log'>;
}

/** Signed state that a client carries from a question to its answer. */
export interface CallState {
  readonly callId: string;
  readonly round: number;
}

const MAX_CALLS = 1000;
/** Limit for one credential over HTTP, so that others are not shut out. */
const MAX_CALLS_OF_ONE = 250;
const LAST_MS = 3000;
const BUSY = 'Too many calls are running. Wait for some of them, or answer their approvals.';

/** State shared by the servers of one process: the executor and the running calls. */
export class Door {
  readonly options: DoorOptions;
  readonly states: RequestStateCodec<CallState>;
  readonly #runs: Map<string, ClientCall>;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #sessions = new Set<string>();
  #stop: (() => void) | undefined;

  constructor(options: DoorOptions) {
    this.options = options;
    this.#runs = options.approver.runs;
    this.states = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: ANSWER_SECONDS, bind: principalOf });
  }

  readonly #heard = (event: Event): void => {
    const run = event.callId === null ? undefined : this.#runs.get(event.callId);
    if (run === undefined) return;
    if (event.type === 'call.progressed') run.progress(event.data);
    if (event.type === 'call.started') run.access = event.data.access;
  };

  start(connection: Connection, name: string, args: unknown, ctx: ServerContext): ClientCall {
    const owner = ctx.http?.authInfo?.clientId;
    const isGreedy = owner !== undefined && this.#countOf(owner) >= MAX_CALLS_OF_ONE;
    if (isGreedy || this.#runs.size >= MAX_CALLS) throw new ProtocolError(ProtocolErrorCode.InternalError, BUSY);
    const { executor, context } = this.options;
    this.#stop ??= executor.on(this.#heard, ['call.progressed', 'call.started']);
    const capabilities = capabilitiesOf(connection, ctx);
    const client = clientOf(connection, ctx)?.name ?? 'unknown';
    const callId = newCallId();
    const canAsk = hasForms(capabilities) && mayApprove(ctx) && takesForms(connection, ctx);
    const review: ClientCall['review'] = (edited) => executor.review(name, own, edited);
    const run = new ClientCall({ callId, name, args, canAsk, client, owner, review });
    this.#tellSession(connection.session, client);
    const caller: McpCaller = { capabilities, ask: run.ask.bind(run), request: ctx.mcpReq };
    const own = new ExecutionContext({
      ...context,
      sessionId: connection.session,
      agentId: client,
      metadata: { ...context.metadata, mcp: caller },
    });
    this.#runs.set(callId, run);
    connection.calls.add(callId);
    const result = executor.execute(name, own, args, { signal: run.signal, id: callId });
    run.start(result);
    const ending = result.finally(() => {
      connection.calls.delete(callId);
      this.#underWay.delete(ending);
    });
    this.#underWay.add(ending);
    return run;
  }

  #countOf(owner: string): number {
    let count = 0;
    for (const run of this.#runs.values()) if (run.owner === owner) count++;
    return count;
  }

  #tellSession(session: string, client: string): void {
    if (this.#sessions.has(session)) return;
    this.#sessions.add(session);
    this.options.onSession?.(session, client);
  }

  /** Returns the call a request continues; undefined when there is none, or when tool or arguments differ. */
  waiting(callId: string, name: string, args: unknown): ClientCall | undefined {
    const run = this.#runs.get(callId);
    return run?.isOf(name, args) ? run : undefined;
  }

  finish(run: ClientCall, result: ToolResult): FinishedClientCall {
    this.#runs.delete(run.callId);
    return { run, result };
  }

  drop(callId: string): void {
    this.#runs.get(callId)?.cancel();
    this.#runs.delete(callId);
  }

  /** Ends the running calls of a connection. */
  leave({ calls, session }: Connection): void {
    for (const callId of calls) this.drop(callId);
    this.#sessions.delete(session);
  }

  /**
   * Ends all running calls. Resolves when their end is recorded, so that the store can be closed, or after a time
   * limit.
   */
  async close(): Promise<void> {
    this.#stop?.();
    for (const run of this.#runs.values()) run.cancel();
    this.#runs.clear();
    const patience = new AbortController();
    const late = delay(LAST_MS, undefined, { signal: patience.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#underWay), late]);
    patience.abort();
  }
}

/** Scope of an HTTP client whose form may approve. A client over a pipe is the user's own. */
export const MAY_APPROVE = 'approve';

function mayApprove({ http }: ServerContext): boolean {
  return http?.authInfo === undefined || http.authInfo.scopes.includes(MAY_APPROVE);
}

/**
 * Whether a request can be answered with a form. In the 2026 revision a form is the response to a request, and a list
 * never gets one.
 */
function takesForms({ era }: Connection, { mcpReq }: ServerContext): boolean {
  return era === 'legacy' || mcpReq.method !== 'resources/list';
}

/** Binds a state to the client it was given to. */
function principalOf(ctx: ServerContext): string {
  return `${ctx.mcpReq.method}\0${ctx.http?.authInfo?.clientId ?? ''}`;
}

function capabilitiesOf({ server, era }: Connection, { mcpReq }: ServerContext): ClientCapabilities {
  if (era === 'legacy') return server.getClientCapabilities() ?? {};
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return (envelope[CLIENT_CAPABILITIES_META_KEY] ?? {}) as ClientCapabilities;
}

function clientOf({ server, era }: Connection, { mcpReq }: ServerContext): Implementation | undefined {
  if (era === 'legacy') return server.getClientVersion();
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  return envelope[CLIENT_INFO_META_KEY] as Implementation | undefined;
}

/** A client without modes supports forms: they were the first mode. */
function hasForms({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && ('form' in elicitation || !('url' in elicitation));
}
