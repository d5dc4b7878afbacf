import type { Command } from 'commander';
import { serveMcp } from '../../app/serve-mcp.ts';
import { type Cli, failWith } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { addAppOptions, type CommonOptions, settingsOf } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(command, cli).action(async (options: CommonOptions) => {
    const { stdin: input, stdout: output, stderr: errors, env, cwd } = cli.io;
    const workspace = options.workspace ?? cwd;
    const served = await serveMcp({ workspace, env, flags: settingsOf(options), input, output, errors });
    if (served.ok) return;
    failWith(cli, served.error);
    cli.exitCode = EXIT.configuration;
  });
}
