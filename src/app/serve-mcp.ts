import type { Readable, Writable } from 'node:stream';
import { pino } from 'pino';
import type { Result } from '../kernel/result.ts';
import { ok } from '../kernel/result.ts';
import { serveStdio } from '../mcp/server/serve-stdio.ts';
import type { Texts } from './config/texts.ts';
import { openMcp } from './open-mcp.ts';

export interface ServeMcpOptions {
  readonly workspace: string;
  readonly env: Texts;
  readonly flags?: Texts;
  readonly input: Readable;
  readonly output: Writable;
  /** Where everything goes that is no message of the protocol. */
  readonly errors: Writable;
}

/** `toolwright mcp`: serves one client over its pipes until it goes, and leaves nothing of its calls running. */
export async function serveMcp({ input, output, errors, ...options }: ServeMcpOptions): Promise<Result<void>> {
  const logger = pino({ level: options.flags?.['logLevel'] ?? options.env['TOOLWRIGHT_LOG_LEVEL'] ?? 'warn' }, errors);
  const opened = await openMcp({ ...options, logger });
  if (!opened.ok) return opened;
  const { door, close } = opened.value;
  await serveStdio(door, { input, output, log: logger });
  await close();
  return ok(undefined);
}
