import type { Command } from 'commander';
import { beginCollecting, endCollecting } from '../../../app/admin/collected-changes.ts';
import { openSession } from '../../../app/open-session.ts';
import { type Cli, failWith } from '../../cli.ts';
import { isInWorkspace } from '../../sessions.ts';
import { toJson } from '../../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../../with-app.ts';

interface CollectOptions extends CommonOptions {
  readonly onto?: string;
  readonly end?: true;
}

export function define(command: Command, cli: Cli): void {
  const { options: about } = cli.words;
  addAppOptions(command.argument('<session>', about.session), cli)
    .option('--onto <session>', about.onto)
    .option('--end', about.endCollecting)
    .action((session: string, options: CollectOptions) => collect(cli, session, options));
}

function collect(cli: Cli, session: string, options: CollectOptions): Promise<void> {
  return withApp(cli, options, async (app) => {
    const { words } = cli;
    if (!(await isInWorkspace(cli, app, { session, option: '<session>' }))) return;
    if (options.end) {
      const ended = await endCollecting(app, session);
      if (!ended.ok) return failWith(cli, ended.error);
      if (options.json) return cli.print(toJson({ collects: false, changes: ended.value }));
      return cli.print(ended.value === null ? words.nothing : words.nextKeep(ended.value));
    }
    await openSession(app, session, session);
    const begun = await beginCollecting(app, { session, onto: options.onto ?? null, by: 'terminal' });
    if (!begun.ok) return failWith(cli, begun.error);
    cli.print(options.json ? toJson({ collects: true, changes: null }) : words.collecting(session));
  });
}
