import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { type RunningServer, serve } from '../http/serve.ts';
import { messageOf } from '../kernel/error.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { type Principal, serveHttp } from '../mcp/server/serve-http.ts';
import type { Config } from './config/settings.ts';
import { drain } from './drain.ts';
import { type Host, type HostOptions, openHost } from './open-host.ts';
import { openMcpDoors } from './mcp/open-mcp-doors.ts';
import { noteServer } from './server-notes.ts';
import { openTokens, type Tokens } from './admin/tokens.ts';

export interface ServerOptions extends Omit<HostOptions, 'takeOver'> {
  /** The folder of the built web app. */
  readonly pages?: string | undefined;
  /** Milliseconds that running calls get to end by themselves when the server stops. */
  readonly graceMs?: number;
}

export interface StartedServer {
  readonly url: string;
  /** The usual port, where it was taken and another one is used instead. */
  readonly takenPort: number | null;
  /** The owner's. */
  readonly token: string;
  readonly host: Host;
  close(): Promise<void>;
}

/**
 * The server as a whole: workspaces, tokens, address. Says what is wrong before it listens, and takes up what others
 * left behind only when it does: one that cannot would leave it a second time.
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
  const unnote = noteServer(host.stateDir, running.url);
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

/** MCP for each workspace. Who names none gets the first. */
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
    // One that somebody chose is what they want: bookmarks and clients point there.
    orNext: sources.port === 'default',
    publicUrl: config.publicUrl ?? undefined,
    tls: tls.value,
    mostStreamsPerToken: config.streamsPerToken,
    pages,
  });
  return running.ok ? ok({ running: running.value, tokens: tokens.value }) : running;
}

/** Whoever can reach the port could read what goes over it, and the owner's token is not for handing out. */
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
