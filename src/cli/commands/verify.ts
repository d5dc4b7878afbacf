import type { Command } from 'commander';
import { type Cli, failWith } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { showSpinner } from '../run/spinner.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(command.argument('[session]'), cli).action((session: string | undefined, options: CommonOptions) =>
    withApp(cli, options, async ({ store }) => {
      const found = await showSpinner(cli, cli.words.working.verify, (progress) => store.verify(session, progress));
      const { problems, events, sessions } = found;
      if (session !== undefined && sessions === 0)
        return failWith(cli, { code: 'INVALID_INPUT', message: cli.words.noSession(session) });
      if (problems.length > 0) cli.exitCode = EXIT.failed;
      if (options.json) return cli.print(toJson(found));
      if (problems.length === 0) return cli.print(`${cli.style.green('✓')} ${cli.words.whole(events, sessions)}`);
      cli.print(`${cli.style.red('✗')} ${cli.words.notWhole}`);
      for (const problem of problems) cli.print(`  ${harmless(problem)}`);
    }),
  );
}
