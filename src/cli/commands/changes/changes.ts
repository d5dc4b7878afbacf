import type { Command } from 'commander';
import type { App } from '../../../app/open-app.ts';
import { pendingChangesView } from '../../../protocol/changes-view.ts';
import { findPending, pendingIn } from '../../approvals/pending-changes.ts';
import { previewLines } from '../../approvals/preview.ts';
import type { Cli } from '../../cli.ts';
import { harmless, toJson } from '../../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../../with-app.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(command.argument('[id]', cli.words.options.changesId), cli).action(
    (id: string | undefined, options: CommonOptions) =>
      withApp(cli, options, (app) => (id === undefined ? list(cli, app, options) : show(cli, app, { ...options, id }))),
  );
}

async function list(cli: Cli, app: App, { json }: CommonOptions): Promise<void> {
  const { print, words, style } = cli;
  const pending = await pendingIn(app).list();
  if (pending.length === 0 && !json) print(words.nothing);
  for (const { stage, question } of pending) {
    const view = pendingChangesView(stage, question?.id ?? null);
    if (json) {
      print(toJson(view));
      continue;
    }
    const { created = 0, modified = 0, deleted = 0, mode = 0 } = view.kinds;
    const counts = words.changeCounts({ created, modified: modified + mode, deleted, repository: 0 });
    const waits = question === null ? '' : ` · ${words.questionOpen}`;
    const collects = stage.isCollecting ? ` · ${stage.session} · ${words.stillCollecting}` : '';
    print(`${stage.id} ${style.bold(style.line(stage.title, 40))}\n  ${style.dim(`${counts}${waits}${collects}`)}`);
    const { overtaken } = view;
    if (overtaken !== null) print(`  ${style.line(words.overtaken(overtaken.title, overtaken.paths.join(', ')), 2)}`);
  }
}

async function show(cli: Cli, app: App, { id, json }: CommonOptions & { id: string }): Promise<void> {
  const found = await findPending(cli, app, id);
  if (found === undefined) return;
  const { stage, question } = found;
  const block = await pendingIn(app).present(found);
  if (json) return cli.print(toJson({ ...pendingChangesView(stage, question?.id ?? null), preview: block }));
  cli.print(cli.style.bold(harmless(stage.title)));
  for (const line of previewLines([block], cli)) cli.print(line);
  cli.note(cli.words.nextKeep(stage.id));
}
