import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createSecureContext } from 'node:tls';
import { type RunningServer, serve } from '../http/serve.ts';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { type Principal, serveHttp } from '../mcp/server/serve-http.ts';
import { registerServer } from './admin/server-registry.ts';
import { openTokens, type Tokens } from './admin/tokens.ts';
import type { Config } from './config/settings.ts';
import { openMcpDoors } from './mcp/open-mcp-doors.ts';
import { type Host, type HostOptions, openHost } from './open-host.ts';

export interface ServerOptions extends Omit<HostOptions, 'takeOver'> {
  /** The directory of the built web app. */
  readonly pages?: string | undefined;
  /** Milliseconds for running calls to end by themselves when the server stops. */
  readonly graceMs?: number;
}

export interface StartedServer {
  readonly url: string;
  /** The configured port, if it was taken and another one is used. */
  readonly takenPort: number | null;
  /** The token of the owner. */
  readonly token: string;
  readonly host: Host;
  close(): Promise<void>;
}

/**
 * Starts the whole server: workspaces, tokens, address. Reports problems before it listens, and takes over calls of
 * ended processes only once it listens: a server that fails to start would abandon them again.
 */
export async function startServer({ pages, graceMs, ...options }: ServerOptions): Promise<Result<StartedServer>> {
  const opened = await openHost({ ...options, takeOver: false });
  if (!opened.ok) return opened;
  const mcp = serveMcpOf(opened.value);
  const host: Host = { ...opened.value, mcp };
  const started = await listen(host, pages);
  if (!started.ok) {
    await mcp.close();
    await host.close();
    return started;
  }
  host.takeUp();
  const { running, tokens } = started.value;
  const unnote = registerServer(host.stateDir, running.url);
  const { port } = host.config;
  return ok({
    url: running.url,
    takenPort: port !== 0 && running.port !== port ? port : null,
    token: tokens.own,
    host,
    async close() {
      unnote();
      host.runner.pause();
      const drained = drain(host, graceMs);
      await Promise.all([mcp.close(), drained, running.close(drained)]);
      await host.close();
    },
  });
}

/** Serves MCP for each workspace. A request without a workspace gets the first. */
function serveMcpOf(host: Host) {
  const doors = [...openMcpDoors(host)].map(([id, door]) => ({
    id,
    door,
    http: serveHttp(door, { log: host.log, guarded: true }),
  }));
  return {
    handle(request: Request, who: Principal, workspace: string | undefined) {
      const found = doors.find(({ id }) => workspace === undefined || id === workspace);
      return found?.http.handle(request, who);
    },
    async close() {
      await Promise.all(doors.flatMap(({ door, http }) => [door.close(), http.close()]));
    },
  };
}

async function listen(
  host: Host,
  pages: string | undefined,
): Promise<Result<{ running: RunningServer; tokens: Tokens }>> {
  const { config, sources, stateDir } = host;
  const tokens = openTokens(stateDir);
  if (!tokens.ok) return tokens;
  const refused = unsafeAddress(config, tokens.value);
  if (refused !== undefined) return refused;
  const tls = certificate(config);
  if (!tls.ok) return tls;
  const running = await serve(host, tokens.value, {
    host: config.host,
    port: config.port,
    // A port that the user chose is used or fails: bookmarks and clients point there.
    orNext: sources.port === 'default',
    publicUrl: config.publicUrl ?? undefined,
    tls: tls.value,
    mostStreamsPerToken: config.streamsPerToken,
    pages,
  });
  return running.ok ? ok({ running: running.value, tokens: tokens.value }) : running;
}

/**
 * Refuses an address beyond loopback without TLS, which could be read, or without tokens of people: the owner's is not
 * to be shared.
 */
function unsafeAddress({ host, publicUrl, tlsCert }: Config, { hasUsers }: Tokens): Result<never> | undefined {
  if (isLoopback(host)) return undefined;
  const missing = [
    ...(hasUsers ? [] : ['a token for each person (toolwright token NAME --role ROLE)']),
    ...(publicUrl === null && tlsCert === null
      ? ['tlsCert and tlsKey, or publicUrl if a proxy of yours has the certificate']
      : []),
  ];
  if (missing.length === 0) return undefined;
  const words = `Listening on ${host} lets others reach this machine's tools. It needs ${missing.join('; and ')}.`;
  return fail('NOT_CONFIGURED', `${words} Leave host out to listen on this machine alone.`);
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

function certificate({ tlsCert, tlsKey }: Config): Result<{ cert: string; key: string } | undefined> {
  if (tlsCert === null && tlsKey === null) return ok(undefined);
  if (tlsCert === null || tlsKey === null) return fail('NOT_CONFIGURED', 'tlsCert and tlsKey are needed together.');
  try {
    const read = { cert: readFileSync(tlsCert, 'utf8'), key: readFileSync(tlsKey, 'utf8') };
    createSecureContext(read);
    return ok(read);
  } catch (error) {
    const next = 'Name the file of a certificate as tlsCert and that of its own key as tlsKey.';
    return fail('NOT_CONFIGURED', `The certificate cannot be used: ${messageOf(error)}. ${next}`);
  }
}

const POLL_MS = 50;
const CANCEL_MS = 3000;

/**
 * Lets running calls end, then stops them, each with its record. Calls that await approval, and those around them, are left
 * as they are: the question stays open, and the next process takes the call over when there is an answer.
 */
async function drain({ ledger, live }: Pick<Host, 'ledger' | 'live'>, graceMs = 5000): Promise<void> {
  if (await allEnded(graceMs)) return;
  for (const id of await running()) live.cancel(id);
  await allEnded(CANCEL_MS);

  async function allEnded(withinMs: number): Promise<boolean> {
    for (let waited = 0; waited <= withinMs; waited += POLL_MS) {
      if ((await running()).length === 0) return true;
      await delay(POLL_MS);
    }
    return false;
  }

  async function running(): Promise<string[]> {
    const states = await Promise.all(live.ids().map(async (id) => [id, (await ledger.call(id))?.state] as const));
    const waiting = new Set(states.flatMap(([id, state]) => (state === 'awaiting_approval' ? live.chainOf(id) : [])));
    return states
      .filter(([id, state]) => (state === 'requested' || state === 'running') && !waiting.has(id))
      .map(([id]) => id);
  }
}
