import type { Readable, Writable } from 'node:stream';
import { ok, type Result } from '../../kernel/result.ts';
import { serveStdio } from '../../mcp/server/serve-stdio.ts';
import type { Texts } from '../config/texts.ts';
import { openHost } from '../open-host.ts';
import { openMcpDoors } from './open-mcp-doors.ts';

export interface ServeMcpOptions {
  readonly workspace: string;
  readonly env: Texts;
  readonly flags?: Texts;
  /** Nobody can be asked: a call that needs approval is refused at once. */
  readonly headless?: boolean;
  readonly input: Readable;
  readonly output: Writable;
  /** Receives everything that is not a message of the protocol. */
  readonly errors: Writable;
  /** Stops as if the client had disconnected. */
  readonly signal: AbortSignal;
}

/**
 * `toolwright mcp`: serves one client over its pipes until it disconnects or `signal` aborts, then stops all its calls.
 */
export async function serveMcp(options: ServeMcpOptions): Promise<Result<void>> {
  const { workspace, input, output, errors, signal, ...rest } = options;
  const logTo = { stream: errors, when: 'always' } as const;
  const opened = await openHost({ ...rest, workspaces: [workspace], logTo, takeOver: false });
  if (!opened.ok) return opened;
  const [door] = openMcpDoors(opened.value).values();
  if (door === undefined) throw new Error('a host has a workspace');
  for (const app of opened.value.apps.values()) app.sandbox.prepare?.(app.workspace.root);
  await serveStdio(door, { input, output, log: opened.value.log, signal });
  await door.close();
  await opened.value.close();
  return ok(undefined);
}
