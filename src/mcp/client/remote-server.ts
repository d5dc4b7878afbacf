import {
  Client,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type Tool as ListedTool,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
  type VersionNegotiationOptions,
} from '@modelcontextprotocol/client';
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';
import { messageOf } from '../../kernel/error.ts';
import type { Logger } from '../../kernel/ports.ts';
import { fail, type Result } from '../../kernel/result.ts';
import { visible } from '../../kernel/text/visible.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import { remoteAnswer } from './remote-answer.ts';
import type { ServerConfig } from './server-config.ts';
import { leaveOutMalformedTools, MAX_MESSAGE_MB, serverProcess } from './transport.ts';

/** Answers a form that a server asks our user to fill in. */
export type AnswerForm = (request: { message: string; schema: unknown }) => Promise<{
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, string | number | boolean | string[]>;
}>;

export interface RemoteServerOptions {
  readonly version: string;
  readonly log: Logger;
  /** Receives the tools of the server whenever they may have changed. */
  onTools(tools: readonly ListedTool[]): void;
  /**
   * Returns the result of `work`, or undefined when it took too long: a server's schema may contain a pattern that
   * never ends.
   */
  inTime<T>(work: () => T, longestMs?: number): T | undefined;
  /** Without it, servers are told that forms are not supported. */
  readonly answerForm?: AnswerForm;
  /** Waits before each retry; the last one applies to all further retries. */
  readonly backoffMs?: readonly number[];
}

const BACKOFF_MS = [500, 1000, 2000, 5000, 15_000, 60_000];
const STABLE_MS = 60_000;
const CONNECT_MS = 20_000;
/** Generous, because a schema is read once and must not fail on a busy machine. */
const READ_MS = 5000;

export type ServerState = 'starting' | 'up' | 'down' | 'closed';

/** One server of the user's configuration: started, listened to, and restarted when it ends. */
export class RemoteServer {
  readonly name: string;
  readonly #config: ServerConfig;
  readonly #parts: RemoteServerOptions;
  #client: Client | undefined;
  #state: ServerState = 'starting';
  #trouble = '';
  #failures = 0;
  #upSince = 0;
  #again: NodeJS.Timeout | undefined;
  #trying: Promise<void> = Promise.resolve();
  readonly #stop = new AbortController();
  /** Clients that exceeded the message limit: the library closes the connection and reports the reason only here. */
  readonly #flooded = new WeakSet<Client>();
  /** Number of running calls for each connection, while there are any. */
  readonly #underWay = new Map<Client, number>();

  constructor(name: string, config: ServerConfig, parts: RemoteServerOptions) {
    this.name = name;
    this.#config = config;
    this.#parts = parts;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** The reason, while the server is down. */
  get trouble(): string {
    return this.#trouble;
  }

  /** Resolves after the first attempt, successful or not: a server that is down does not delay the others. */
  open(): Promise<void> {
    this.#trying = this.#try();
    return this.#trying;
  }

  async #try(): Promise<void> {
    const client = this.#newClient();
    const transport = this.#newTransport();
    try {
      await client.connect(transport, { timeout: CONNECT_MS, signal: this.#stop.signal });
      if (this.#isClosed()) return await client.close();
      leaveOutMalformedTools(transport, (tool) => this.#tellMalformed(tool));
      client.onclose = () => this.#ended(client, this.#whyLost(client) ?? 'it ended');
      this.#client = client;
      this.#state = 'up';
      this.#upSince = performance.now();
      await this.#list(client);
    } catch (error) {
      await transport.close().catch(() => {});
      this.#ended(client, messageOf(error));
    }
  }

  async call(
    tool: string,
    args: Record<string, unknown>,
    { ctx, structured }: { ctx: ToolContext; structured: boolean },
  ): Promise<Result<unknown>> {
    const client = this.#client;
    if (client === undefined) return this.#notUp();
    this.#underWay.set(client, (this.#underWay.get(client) ?? 0) + 1);
    try {
      const answer = await client.callTool(
        { name: tool, arguments: args },
        {
          signal: ctx.signal,
          timeout: ctx.timeout * 1000,
          onprogress: ({ progress, total, message }) =>
            ctx.progress({
              ...(message !== undefined && { message }),
              ...(total !== undefined && total > 0 && { percent: (100 * progress) / total }),
            }),
        },
      );
      return remoteAnswer(this.name, answer, structured);
    } catch (error) {
      return this.#explain(client, tool, ctx, error);
    } finally {
      this.#answered(client);
    }
  }

  /** Resolves when its process was told to end in a way it cannot ignore, even one that is still starting. */
  async close(): Promise<void> {
    this.#state = 'closed';
    clearTimeout(this.#again);
    this.#stop.abort();
    await this.#client?.close().catch(() => {});
    this.#client = undefined;
    await this.#trying;
  }

  #answered(client: Client): void {
    const left = (this.#underWay.get(client) ?? 1) - 1;
    if (left > 0) return void this.#underWay.set(client, left);
    this.#underWay.delete(client);
    if (client !== this.#client) leave(client);
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  #newClient(): Client {
    const { version, answerForm, log } = this.#parts;
    const client = new Client(
      { name: 'toolwright', version },
      {
        versionNegotiation: { mode: modeOf(this.#config) },
        capabilities: answerForm === undefined ? {} : { elicitation: { form: { applyDefaults: true } } },
        jsonSchemaValidator: { getValidator: (schema) => this.#validator(schema) },
        listChanged: { tools: { autoRefresh: false, onChanged: () => void this.#list(client) } },
      },
    );
    client.onerror = (error) => {
      if (error.message.startsWith('ReadBuffer exceeded')) this.#flooded.add(client);
      log.debug({ server: this.name }, `MCP server ${this.name}: ${error.message}`);
    };
    if (answerForm !== undefined) {
      client.setRequestHandler('elicitation/create', async ({ params }) => {
        if (params.mode === 'url') return { action: 'decline' };
        return answerForm({ message: params.message, schema: params.requestedSchema });
      });
    }
    return client;
  }

  /** The library's own check of results, with a time limit. */
  #validator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const { inTime } = this.#parts;
    const validate = inTime(() => new AjvJsonSchemaValidator().getValidator<T>(schema), READ_MS);
    if (validate === undefined) throw new TypeError('it takes too long to read');
    const late = { valid: false, data: undefined, errorMessage: 'the check takes too long' } as const;
    return (value) => inTime(() => validate(value)) ?? late;
  }

  #newTransport(): Transport {
    const config = this.#config;
    if ('url' in config) {
      return new StreamableHTTPClientTransport(new URL(config.url), {
        requestInit: { headers: { ...config.headers } },
      });
    }
    const transport = serverProcess(config);
    transport.stderr?.on('data', (chunk: Buffer) => {
      const text = chunk.toString('utf8').trimEnd();
      this.#parts.log.debug({ server: this.name }, `MCP server ${this.name} says: ${text}`);
    });
    return transport;
  }

  async #list(client: Client): Promise<void> {
    try {
      const { tools } = await client.listTools(undefined, { timeout: CONNECT_MS, signal: this.#stop.signal });
      if (client === this.#client) this.#parts.onTools(tools);
    } catch (error) {
      this.#parts.log.warn({ server: this.name }, `MCP server ${this.name} cannot list its tools: ${messageOf(error)}`);
    }
  }

  #tellMalformed(tool: string): void {
    const shown = visible(tool).slice(0, 100);
    this.#parts.log.warn(
      { server: this.name },
      `MCP server ${this.name}: its tool ${shown} is malformed and was skipped.`,
    );
  }

  #ended(client: Client, why: string): void {
    if (this.#isClosed() || (this.#client !== undefined && this.#client !== client)) return;
    const waits = this.#parts.backoffMs ?? BACKOFF_MS;
    const wasStable = this.#client !== undefined && performance.now() - this.#upSince > STABLE_MS;
    this.#failures = wasStable ? 0 : this.#failures;
    const wait = waits[Math.min(this.#failures, waits.length - 1)] ?? 0;
    this.#failures += 1;
    this.#client = undefined;
    if (!this.#underWay.has(client)) leave(client);
    this.#state = 'down';
    this.#trouble = why;
    this.#parts.log.warn({ server: this.name }, `MCP server ${this.name}: ${why}. Retrying in ${wait} ms.`);
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.open(), wait);
    this.#again.unref();
  }

  #whyLost(client: Client): string | undefined {
    return this.#flooded.has(client) ? `it sent more than ${MAX_MESSAGE_MB} MB in one message` : undefined;
  }

  #notUp(): Result<never> {
    const why = this.#state === 'starting' ? 'is starting' : `is not running (${this.#trouble}) and is being restarted`;
    return fail('EXECUTION_ERROR', `The MCP server ${this.name} ${why}. Nothing ran; try again in a moment.`);
  }

  #explain(client: Client, tool: string, ctx: ToolContext, error: unknown): Result<never> {
    const why = this.#whyLost(client) ?? messageOf(error);
    if (ctx.signal.aborted) return fail('CANCELLED', `${tool} was cancelled.`);
    if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
      return fail('TIMEOUT', `The MCP server ${this.name} did not answer within ${ctx.timeout} s.`);
    }
    if (!isLost(error)) return fail('EXECUTION_ERROR', `The MCP server ${this.name} answered: ${why}`);
    // A process that ended was already reported and must not count twice.
    if (client === this.#client) this.#ended(client, why);
    const unknown = 'It may have done part of its work.';
    return fail('EXECUTION_ERROR', `The MCP server ${this.name} disconnected during ${tool}: ${why}. ${unknown}`);
  }
}

function modeOf({ protocol, ...config }: ServerConfig): NonNullable<VersionNegotiationOptions['mode']> {
  if (protocol === '2025') return 'legacy';
  if (protocol === '2026') return { pin: '2026-07-28' };
  return protocol === 'auto' || 'url' in config ? 'auto' : 'legacy';
}

/** Closes a lost connection, which could keep listening and keep this process alive. */
function leave(client: Client): void {
  client.onclose = () => {};
  client.close().catch(() => {});
}

/**
 * Whether the connection is lost. An HTTP transport does not report that its server is gone; a failed call shows it.
 */
function isLost(error: unknown): boolean {
  if (error instanceof SdkHttpError || error instanceof TypeError) return true;
  return error instanceof SdkError && LOST.has(error.code);
}

const LOST: ReadonlySet<SdkErrorCode> = new Set([
  SdkErrorCode.NotConnected,
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.SendFailed,
]);
