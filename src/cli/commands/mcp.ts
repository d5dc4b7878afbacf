import { PassThrough, type Readable } from 'node:stream';
import type { Command } from 'commander';
import { serveMcp } from '../../app/mcp/serve-mcp.ts';
import { collect, settingsFrom } from '../arguments/flags.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { stopSignal } from '../run/stop-signal.ts';
import { harmless } from '../text/style.ts';
import { addSettings, settingsOf } from '../with-app.ts';

interface McpOptions {
  workspace?: string;
  headless?: boolean;
  set?: string[];
}

export function define(command: Command, cli: Cli): void {
  const { options: about } = cli.words;
  command
    .option('-w, --workspace <folder>', about.workspace)
    .option('--headless', about.headless)
    .option('--set <name=value>', about.set, collect);
  addSettings(command).action((options: McpOptions) => mcp(cli, options));
}

/** Speaks MCP over stdin and stdout. All other output goes to stderr, because the client reads every line. */
async function mcp({ io }: Cli, options: McpOptions): Promise<void> {
  const { workspace = io.cwd, headless = false, set } = options;
  const { stderr: errors } = process;
  const input = untilToldToStop(process.stdin);
  const flags = { ...settingsFrom(set), ...settingsOf(options) };
  const output = stdoutForMessages();
  const stop = new AbortController();
  void stopSignal(() => process.exit(EXIT.interrupted)).then(() => stop.abort());
  const { signal } = stop;
  const served = await serveMcp({ workspace, env: io.env, flags, headless, input, output, errors, signal });
  if (!served.ok) console.error(harmless(served.error.message));
  process.exit(served.ok ? EXIT.ok : EXIT.configuration);
}

/**
 * Treats a stop signal as the client's disconnect, even during startup, so that started work is ended. The next one
 * kills.
 */
function untilToldToStop(stdin: Readable): Readable {
  const input = stdin.pipe(new PassThrough());
  stdin.on('error', () => input.end());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      stdin.unpipe(input);
      input.end();
    });
  }
  return input;
}

/** Returns the real stdout; other writes to it go to stderr from now on. */
function stdoutForMessages(): NodeJS.WriteStream {
  const real = process.stdout;
  Object.defineProperty(process, 'stdout', { value: process.stderr, configurable: true });
  globalThis.console = new console.Console(process.stderr, process.stderr);
  return real;
}
