import type { Command } from 'commander';
import { findPending, pendingIn } from '../../approvals/pending-changes.ts';
import { type Cli, failWith } from '../../cli.ts';
import { keptLine } from '../../text/kept-changes.ts';
import { harmless, toJson } from '../../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../../with-app.ts';

export function define(command: Command, cli: Cli): void {
  const { options: about } = cli.words;
  addAppOptions(command.argument('<id>', about.changesId).option('--message <text>', about.denyMessage), cli).action(
    (id: string, options: CommonOptions & { message?: string }) =>
      withApp(cli, options, async (app) => {
        const found = await findPending(cli, app, id);
        if (found === undefined) return;
        const discarded = await pendingIn(app).discard(found, 'terminal', options.message);
        if (!discarded.ok) return failWith(cli, discarded.error);
        cli.print(options.json ? toJson(discarded.value) : harmless(keptLine(discarded.value, cli.words)));
      }),
  );
}
