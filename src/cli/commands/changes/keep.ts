import type { Command } from 'commander';
import { exactPath } from '../../../kernel/call/read-selection.ts';
import { decidedHere, findPending, pendingIn } from '../../approvals/pending-changes.ts';
import { type Cli, failWith } from '../../cli.ts';
import { keptLine } from '../../text/kept-changes.ts';
import { harmless, toJson } from '../../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../../with-app.ts';

export function define(command: Command, cli: Cli): void {
  const { options: about } = cli.words;
  addAppOptions(command.argument('<id>', about.changesId).argument('[paths...]', about.keptPaths), cli).action(
    (id: string, paths: string[], options: CommonOptions) =>
      withApp(
        cli,
        options,
        async (app) => {
          const found = await findPending(cli, app, id);
          if (found === undefined) return;
          const known = found.stage.changes.map(({ path }) => path);
          const typed = paths.map((path) => path.replace(/^\.\/|\/$/g, ''));
          const chosen = typed.map((path) => exactPath(path, known) ?? path);
          const kept = await pendingIn(app).keep(found, chosen.length === 0 ? {} : { paths: chosen }, 'terminal');
          if (!kept.ok) return failWith(cli, kept.error);
          cli.print(options.json ? toJson(kept.value) : harmless(keptLine(kept.value, cli.words)));
        },
        { approver: decidedHere },
      ),
  );
}
