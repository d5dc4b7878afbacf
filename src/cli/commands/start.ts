import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { createSessionRunner } from '../../app/session-runner.ts';
import { startServer } from '../../app/start-server.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { collect, settingsFrom } from '../flags.ts';

interface StartOptions {
  workspace: string[];
  port?: string;
  host?: string;
  headless?: boolean;
  set: string[];
  json?: boolean;
}

export function define(command: Command): void {
  command
    .option('-w, --workspace <folder>', 'a folder to work in; several may be given', collect, [])
    .option('-p, --port <number>', 'the port; the next free one if it is taken')
    .option('--host <address>', 'the address to listen on')
    .option('--headless', 'nobody can be asked: refuse at once what needs a person')
    .option('--set <name=value>', 'any setting of the configuration', collect, [])
    .option('--json', 'print one JSON object instead of sentences')
    .action(start);
}

async function start({ workspace, port, host, headless = false, set, json }: StartOptions): Promise<void> {
  const flags = { ...settingsFrom(set), ...(port !== undefined && { port }), ...(host !== undefined && { host }) };
  const started = await startServer({
    workspaces: workspace.length > 0 ? workspace : ['.'],
    env: process.env,
    flags,
    headless,
    runner: (parts) => createSessionRunner(parts, process.env),
    pages: builtPages(),
  });
  if (!started.ok) {
    console.error(started.error.message);
    process.exit(exitCodeOf(started.error));
  }
  const { url, token, close, host: server } = started.value;
  const [first] = server.workspaces.values();
  // In the fragment the token stays in the browser: it is never sent as part of an address.
  const address = `${url}/#token=${token}`;
  if (json) console.log(JSON.stringify({ url, token, workspaces: [...server.workspaces.keys()] }));
  else
    console.log(
      `Toolwright works in ${first?.name}.\n\n  ${address}\n\nThe API is described at ${url}/docs. Ctrl-C stops it.`,
    );

  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(EXIT.interrupted);
      stopping = true;
      if (!json) console.log('Stopping: running calls get a moment to end.');
      void close().then(() => process.exit(EXIT.ok));
    });
  }
}

/** Beside the bundle, where the web app was built. */
function builtPages(): string | undefined {
  const folder = new URL('web', import.meta.url).pathname;
  return existsSync(`${folder}/index.html`) ? folder : undefined;
}
