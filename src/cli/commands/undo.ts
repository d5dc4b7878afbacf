import type { Command } from 'commander';
import { undoCall } from '../../app/undo-call.ts';
import { type Cli, failWith } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';
import { working } from '../run/spinner.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(command.argument('<call>'), cli).action((callId: string, options: CommonOptions) =>
    withApp(cli, options, async (app) => {
      const undone = await working(cli, cli.words.working.undo, undoCall(app, callId, 'terminal'));
      if (!undone.ok) return failWith(cli, undone.error);
      const paths = harmless(undone.value.restored.join(', '));
      cli.print(options.json ? toJson(undone.value) : cli.words.undone(paths));
    }),
  );
}
