/** A server to start and talk to over its pipes. It runs as the user, with the few variables every program needs. */
export interface CommandServer {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly protocol?: Protocol | undefined;
}

export interface UrlServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly protocol?: Protocol | undefined;
}

/** `auto` detects the revision; with a command that starts the server twice. */
export type Protocol = 'auto' | '2025' | '2026';

export type ServerConfig = CommandServer | UrlServer;
