import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { wholeNumberOption } from '../arguments/flags.ts';
import { type Cli, failWith } from '../cli.ts';
import { RunView } from '../run/run-view.ts';
import { toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

interface ReplayOptions extends CommonOptions {
  readonly delay: number;
}

export function define(command: Command, cli: Cli): void {
  addAppOptions(command.argument('<session>'), cli)
    .option('--delay <ms>', cli.words.options.delay, wholeNumberOption(cli.words), 0)
    .action((session: string, options: ReplayOptions) =>
      withApp(cli, options, async ({ store }) => {
        const events = await store.events(session);
        if (events.length === 0) {
          return failWith(cli, { code: 'INVALID_INPUT', message: cli.words.noSession(session) });
        }
        if (!options.json) cli.print(cli.style.yellow(cli.words.replaying));
        const view = new RunView(cli).replay();
        for (const event of events) {
          if (options.json) cli.print(toJson(event));
          else view.show(event);
          if (options.delay > 0) await sleep(options.delay);
        }
      }),
    );
}
