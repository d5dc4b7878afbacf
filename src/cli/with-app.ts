import { type Command, Option } from 'commander';
import { SETTING_NAMES } from '../app/config/settings.ts';
import type { Texts } from '../app/config/texts.ts';
import { type App, type AppOptions, openApp } from '../app/open-app.ts';
import { settingsFrom } from './arguments/flags.ts';
import { type Cli, failToOpen } from './cli.ts';
import { logOutput } from './log-output.ts';

export interface CommonOptions {
  readonly workspace?: string;
  readonly json?: boolean;
  /** A setting like any other; the demo sets it. */
  readonly mode?: string;
  /** Settings in the form of `--set`. */
  readonly set?: readonly string[];
}

/** Adds the options of every command that works on a workspace: folder, JSON output, and each setting by its name. */
export function addAppOptions(command: Command, cli: Cli): Command {
  command.option('-w, --workspace <folder>', cli.words.options.workspace).option('--json', cli.words.options.json);
  return addSettings(command);
}

/** Adds each setting by its name, where the command has no option of that name. */
export function addSettings(command: Command): Command {
  const taken = new Set(command.options.map(({ long }) => long));
  for (const name of SETTING_NAMES)
    if (!taken.has(`--${dashed(name)}`)) command.addOption(new Option(`--${dashed(name)} <value>`).hideHelp());
  return command;
}

/** Opens the app, does the work and closes the app in any case. */
export async function withApp(
  cli: Cli,
  options: CommonOptions,
  work: (app: App) => Promise<void>,
  more: Pick<AppOptions, 'approver'> = {},
): Promise<void> {
  const flags = { ...settingsFrom(options.set), ...settingsOf(options) };
  const { env, cwd } = cli.io;
  const opened = await openApp({
    workspace: options.workspace ?? cwd,
    env,
    flags,
    logTo: logOutput(cli, 'chosen'),
    ...more,
  });
  if (!opened.ok) return failToOpen(cli, opened.error);
  try {
    await work(opened.value);
  } finally {
    await opened.value.close();
  }
}

export function settingsOf(options: object): Texts {
  const given = options as Texts;
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, given[name]]).filter(([, text]) => text));
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
