import type { Command } from 'commander';
import { undoCall } from '../../app/admin/undo-call.ts';
import { undoLatest } from '../../app/admin/undo-latest.ts';
import { type Cli, failWith } from '../cli.ts';
import { showSpinner } from '../run/spinner.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(command.argument('[call]', cli.words.options.undoCall), cli).action(
    (callId: string | undefined, options: CommonOptions) =>
      withApp(cli, options, async (app) => {
        const undoing = callId === undefined ? undoLatest(app, 'terminal') : undoCall(app, callId, 'terminal');
        const undone = await showSpinner(cli, cli.words.working.undo, undoing);
        if (!undone.ok) return failWith(cli, undone.error);
        const paths = harmless(undone.value.restored.join(', '));
        cli.print(options.json ? toJson(undone.value) : cli.words.undone(paths));
      }),
  );
}
