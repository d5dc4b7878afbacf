import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { createSessionRunner } from '../../app/agent/session-runner.ts';
import { sandboxTrouble } from '../../app/diagnose.ts';
import type { App } from '../../app/open-app.ts';
import { startServer } from '../../app/start-server.ts';
import { collect, settingsFrom } from '../arguments/flags.ts';
import { type Cli, failToOpen } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { logOutput } from '../log-output.ts';
import { showSpinner } from '../run/spinner.ts';
import { stopSignal } from '../run/stop-signal.ts';
import { harmless } from '../text/style.ts';
import { addSettings, settingsOf } from '../with-app.ts';

interface StartOptions {
  workspace?: string[];
  headless?: boolean;
  set?: string[];
  json?: boolean;
}

export function define(command: Command, cli: Cli): void {
  const { options: about } = cli.words;
  command
    .option('-w, --workspace <folder>', about.workspaces, collect)
    .option('-p, --port <number>', about.port)
    .option('--host <address>', about.host)
    .option('--headless', about.headless)
    .option('--set <name=value>', about.set, collect)
    .option('--json', about.json);
  addSettings(command).action((options: StartOptions) => start(cli, options));
}

async function start(cli: Cli, options: StartOptions): Promise<void> {
  const { io, words } = cli;
  const { workspace = [io.cwd], headless = false, set, json } = options;
  const { env } = io;
  const flags = { ...settingsFrom(set), ...settingsOf(options) };
  // Before anything is started, so that it is ended again.
  const stopped = stopSignal(() => process.exit(EXIT.interrupted));
  const opening = startServer({
    workspaces: workspace,
    env,
    flags,
    headless,
    runner: (parts) => createSessionRunner(parts, env),
    pages: builtPages(),
    logTo: logOutput(cli, 'always'),
  });
  const started = await showSpinner(cli, words.working.start, opening);
  if (!started.ok) return failToOpen(cli, started.error);
  const { url, takenPort, token, close, host: server } = started.value;
  const [first] = server.workspaces.values();
  // In the fragment the token stays in the browser and is never sent as part of a URL.
  const address = `${url}/#token=${token}`;
  if (json) cli.print(JSON.stringify({ url, token, workspaces: [...server.workspaces.keys()], takenPort }));
  else cli.print(words.works(harmless(first?.name ?? ''), address, `${url}/docs`));
  for (const app of server.apps.values()) tellSandbox(cli, app);
  if (takenPort !== null) cli.note(words.takenPort(takenPort));
  await stopped;
  if (!json) cli.print(words.draining);
  await close();
  process.exit(EXIT.ok);
}

/** Reports a missing sandbox at startup: the server works, but no command runs. */
function tellSandbox({ note, style, words }: Cli, app: App): void {
  const trouble = sandboxTrouble(app);
  if (trouble !== undefined) note(`${style.yellow('!')} ${harmless(words.said(trouble))}`);
}

/** Folder of the built web app: beside the bundle, also when running from the sources. */
function builtPages(): string | undefined {
  const place = import.meta.url.endsWith('.ts') ? '../../../dist/web' : 'web';
  const folder = fileURLToPath(new URL(place, import.meta.url));
  return existsSync(`${folder}/index.html`) ? folder : undefined;
}
