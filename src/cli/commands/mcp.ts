import { serveMcp } from '../../app/serve-mcp.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { settingsFrom } from '../flags.ts';

interface McpOptions {
  workspace: string;
  headless?: boolean;
  set: string[];
}

/** Speaks MCP over stdin and stdout. Whatever else would be printed goes to stderr: a client reads every line. */
export async function mcp({ workspace, headless = false, set }: McpOptions): Promise<void> {
  const { stdin: input, stderr: errors, env } = process;
  const output = stdoutForMessages();
  const served = await serveMcp({ workspace, env, flags: settingsFrom(set), headless, input, output, errors });
  if (!served.ok) console.error(served.error.message);
  process.exit(served.ok ? EXIT.ok : exitCodeOf(served.error));
}

/** The real stdout; what others write to it from now on goes to stderr. */
function stdoutForMessages(): NodeJS.WriteStream {
  const real = process.stdout;
  Object.defineProperty(process, 'stdout', { value: process.stderr, configurable: true });
  globalThis.console = new console.Console(process.stderr, process.stderr);
  return real;
}
