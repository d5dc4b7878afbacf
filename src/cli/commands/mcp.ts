import type { Command } from 'commander';
import { serveMcp } from '../../app/serve-mcp.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { collect, settingsFrom } from '../flags.ts';

interface McpOptions {
  workspace: string;
  headless?: boolean;
  set: string[];
}

export function define(command: Command): void {
  command
    .option('-w, --workspace <folder>', 'the folder to work in', '.')
    .option('--headless', 'nobody can be asked: refuse at once what needs a person')
    .option('--set <name=value>', 'any setting of the configuration', collect, [])
    .action(mcp);
}

/** Speaks MCP over stdin and stdout. Whatever else would be printed goes to stderr: a client reads every line. */
async function mcp({ workspace, headless = false, set }: McpOptions): Promise<void> {
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
