import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { addToken, openTokens, type Tokens } from '../../src/app/admin/tokens.ts';
import { type Host, type HostOptions, openHost } from '../../src/app/open-host.ts';
import { type RunningServer, type ServeOptions, serve } from '../../src/http/serve.ts';
import type { Role } from '../../src/protocol/health.ts';

/** Whatever an answer holds: tests look at it field by field. */
export type Json = ReturnType<typeof JSON.parse>;

/** A real server on loopback over a real store and workspace, and ways to talk to it. */
export class TestServer {
  readonly home: string;
  readonly workspace: string;
  host!: Host;
  tokens!: Tokens;
  running!: RunningServer;
  #options: Partial<HostOptions & ServeOptions>;

  constructor(options: Partial<HostOptions & ServeOptions> = {}) {
    this.home = mkdtempSync(join(tmpdir(), 'server-'));
    this.workspace = join(this.home, 'project');
    mkdirSync(this.workspace);
    writeFileSync(join(this.workspace, 'a.txt'), 'one\n');
    this.#options = options;
  }

  static async start(options: Partial<HostOptions & ServeOptions> = {}): Promise<TestServer> {
    const server = new TestServer(options);
    await server.start();
    return server;
  }

  /** For options that depend on where it is. */
  with(options: Partial<HostOptions & ServeOptions>): void {
    this.#options = { ...this.#options, ...options };
  }

  async start(): Promise<void> {
    const { port = 0, mostStreamsPerToken, pages, ...rest } = this.#options;
    const host = unwrap(
      await openHost({
        workspaces: [this.workspace],
        env: { PATH: process.env.PATH ?? '' },
        home: this.home,
        ...(rest as Partial<HostOptions>),
      }),
    );
    this.host = host;
    this.tokens = unwrap(openTokens(host.stateDir));
    const limits = mostStreamsPerToken === undefined ? {} : { mostStreamsPerToken };
    this.running = unwrap(await serve(host, this.tokens, { port, pages, ...limits }));
  }

  /** As a restart finds it: everything of this process is gone, what is on the disk stays. */
  async stop(): Promise<void> {
    await this.running.close();
    await this.host.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.home, { recursive: true, force: true });
  }

  /** The folder of its first workspace. */
  workspaceOf(): string {
    return [...this.host.workspaces.values()][0]?.context.workingDir ?? '';
  }

  async tokenFor(name: string, role: Role, sessions: string[] | null = null): Promise<string> {
    return unwrap(await addToken(this.host.stateDir, { name, role, sessions }));
  }

  fetch(path: string, init: RequestInit & { token?: string | null } = {}): Promise<Response> {
    const { token = this.tokens.own, ...rest } = init;
    const headers = new Headers(rest.headers);
    if (token !== null) headers.set('Authorization', `Bearer ${token}`);
    if (rest.body !== undefined && !headers.has('Content-Type')) headers.set('Content-Type', 'application/json');
    return fetch(`${this.running.url}${path}`, { ...rest, headers });
  }

  async get<T = Json>(path: string, token?: string | null): Promise<{ status: number; body: T }> {
    const response = await this.fetch(path, token === undefined ? {} : { token });
    return { status: response.status, body: (await response.json()) as T };
  }

  async send<T = Json>(
    method: string,
    path: string,
    body: unknown = {},
    token?: string | null,
  ): Promise<{ status: number; body: T }> {
    const init = { method, body: JSON.stringify(body), ...(token !== undefined && { token }) };
    const response = await this.fetch(path, init);
    const text = await response.text();
    return { status: response.status, body: (text === '' ? null : JSON.parse(text)) as T };
  }

  post<T = Json>(path: string, body: unknown = {}, token?: string | null) {
    return this.send<T>('POST', path, body, token);
  }

  /** Starts a call that must be asked about, and waits for the question. */
  async ask(args: Record<string, unknown> = { path: 'a.txt', content: 'two\n' }, tool = 'write_file') {
    const before = await this.pending();
    const { body: call } = await this.post('/v1/calls', { tool, args, wait: false });
    for (let tries = 0; tries < 400; tries++) {
      const found = (await this.pending()).find(({ stepId }) => stepId === call.id);
      if (found !== undefined) return { call, approval: found };
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(
      `no question came (${before.length} before): ${JSON.stringify((await this.get(`/v1/calls/${call.id}`)).body)}`,
    );
  }

  async pending(): Promise<Json[]> {
    return (await this.get('/v1/approvals?state=pending')).body.items;
  }

  /** The call once it is over. */
  async ended(id: string): Promise<Json> {
    for (let tries = 0; tries < 1000; tries++) {
      const { body } = await this.get(`/v1/calls/${id}`);
      if (body.finishedAt !== null) return body;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    throw new Error(`call ${id} does not end`);
  }
}

function unwrap<T>(result: { ok: true; value: T } | { ok: false; error: { message: string } }): T {
  if (!result.ok) throw new Error(result.error.message);
  return result.value;
}
