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
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import { newCallId } from '../../runtime/call-id.ts';
import type { ToolExecutor } from '../../runtime/executor.ts';
import type { McpApprover } from './approver.ts';
import type { Connection } from './connection.ts';
import type { Resources } from './resources.ts';
import { ANSWER_SECONDS, type Ended, Run } from './client-call.ts';

export interface DoorOptions {
  readonly executor: ToolExecutor;
  /** What calls run in; each connection gets its own session. */
  readonly context: ExecutionContext;
  /** The same one the executor asks. */
  readonly approver: McpApprover;
  readonly version: string;
  readonly name?: string;
  readonly instructions?: string;
  readonly resources?: Resources;
  /** A session begins: told before its first call. */
  onSession?(session: string, client: string): void;
  /** Adds to a server what this door does not serve itself, such as prompts; called before it is connected. */
  extend?(server: Server): void;
}

/** What a tool finds in its context's metadata under `mcp` when it was called through this door. */
export interface McpCaller {
  readonly capabilities: ClientCapabilities;
  readonly ask: Run['ask'];
  readonly request: Pick<ServerContext['mcpReq'], 'log'>;
}

/** What a client carries from a question to its answer, signed. */
export interface RunState {
  readonly callId: string;
  readonly round: number;
}

const MOST_RUNS = 1000;
/** Of one credential over HTTP, so that the others find a place. */
const MOST_OF_ONE = 250;
const LAST_MS = 3000;
const BUSY = 'Too many calls are under way. Wait for some of them, or answer their questions.';

/** Everything the servers of one process share: the executor, and the calls that are under way. */
export class Door {
  readonly options: DoorOptions;
  readonly states: RequestStateCodec<RunState>;
  readonly #runs: Map<string, Run>;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #sessions = new Set<string>();
  readonly #stop: () => void;

  constructor(options: DoorOptions) {
    this.options = options;
    this.#runs = options.approver.runs;
    this.states = createRequestStateCodec({ key: randomBytes(32), ttlSeconds: ANSWER_SECONDS, bind: principalOf });
    this.#stop = options.executor.on((event) => {
      const run = event.callId === null ? undefined : this.#runs.get(event.callId);
      if (run === undefined) return;
      if (event.type === 'call.progressed') run.progress(event.data);
      if (event.type === 'call.started') run.access = event.data.access;
    });
  }

  start(connection: Connection, name: string, args: unknown, ctx: ServerContext): Run {
    const owner = ctx.http?.authInfo?.clientId;
    const isGreedy = owner !== undefined && this.#countOf(owner) >= MOST_OF_ONE;
    if (isGreedy || this.#runs.size >= MOST_RUNS) throw new ProtocolError(ProtocolErrorCode.InternalError, BUSY);
    const { executor, context } = this.options;
    const capabilities = capabilitiesOf(connection, ctx);
    const client = clientOf(connection, ctx)?.name ?? 'unknown';
    const callId = newCallId();
    const canAsk = hasForms(capabilities) && mayApprove(ctx) && takesForms(connection, ctx);
    const review: Run['review'] = (edited) => executor.review(name, own, edited);
    const run = new Run({ callId, name, args, canAsk, client, owner, review });
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

  /** The run that a request goes on with; undefined when there is none, or when it was another call. */
  waiting(callId: string, name: string, args: unknown): Run | undefined {
    const run = this.#runs.get(callId);
    return run?.isOf(name, args) ? run : undefined;
  }

  finish(run: Run, result: ToolResult): Ended {
    this.#runs.delete(run.callId);
    return { run, result };
  }

  drop(callId: string): void {
    this.#runs.get(callId)?.cancel();
    this.#runs.delete(callId);
  }

  /** Ends what a connection still has under way. */
  leave({ calls, session }: Connection): void {
    for (const callId of calls) this.drop(callId);
    this.#sessions.delete(session);
  }

  /** Ends what is under way. Resolves when that is recorded, so that the store can be closed, or takes too long. */
  async close(): Promise<void> {
    this.#stop();
    for (const run of this.#runs.values()) run.cancel();
    this.#runs.clear();
    const patience = new AbortController();
    const late = delay(LAST_MS, undefined, { signal: patience.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#underWay), late]);
    patience.abort();
  }
}

/** The scope of a client over HTTP whose form counts. Over a pipe the client is the user's own. */
export const MAY_APPROVE = 'approve';

function mayApprove({ http }: ServerContext): boolean {
  return http?.authInfo === undefined || http.authInfo.scopes.includes(MAY_APPROVE);
}

/** In the 2026 revision a form is the answer to a request, and a list is never answered with one. */
function takesForms({ era }: Connection, { mcpReq }: ServerContext): boolean {
  return era === 'legacy' || mcpReq.method !== 'resources/list';
}

/** Whoever was given a state is who may come back with it. */
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

/** A client that says nothing of modes has forms: they came first. */
function hasForms({ elicitation }: ClientCapabilities): boolean {
  return elicitation !== undefined && ('form' in elicitation || !('url' in elicitation));
}
