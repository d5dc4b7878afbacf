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
  /** Nobody can be asked: what needs a person is refused at once. */
  readonly headless?: boolean;
  readonly input: Readable;
  readonly output: Writable;
  /** Where everything goes that is no message of the protocol. */
  readonly errors: Writable;
  /** Stops it as if the client had gone. */
  readonly signal: AbortSignal;
}

/** `toolwright mcp`: serves one client over its pipes until it goes or is told to stop, and leaves nothing of its calls running. */
export async function serveMcp(options: ServeMcpOptions): Promise<Result<void>> {
  const { workspace, input, output, errors, signal, ...rest } = options;
  const logTo = { stream: errors, when: 'always' } as const;
  const opened = await openHost({ ...rest, workspaces: [workspace], logTo, takeOver: false });
  if (!opened.ok) return opened;
  const [door] = openMcpDoors(opened.value).values();
  if (door === undefined) throw new Error('a host has a workspace');
  await serveStdio(door, { input, output, log: opened.value.log, signal });
  await door.close();
  await opened.value.close();
  return ok(undefined);
}
