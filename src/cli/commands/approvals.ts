import type { Command } from 'commander';
import type { App } from '../../app/open-app.ts';
import { type Cli, failWith } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { harmless } from '../style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

interface AnswerOptions extends CommonOptions {
  readonly message?: string;
}

export function define(command: Command, cli: Cli): void {
  const sub = (text: string) => addAppOptions(command.command(text).copyInheritedSettings(command), cli);
  addAppOptions(command, cli).action((options: CommonOptions) =>
    withApp(cli, options, (app) => list(cli, app, options)),
  );
  sub('list').action((options: CommonOptions) => withApp(cli, options, (app) => list(cli, app, options)));
  sub('approve <id>').action((id: string, options: AnswerOptions) => answer(cli, id, true, options));
  sub('deny <id>')
    .option('--message <text>', 'why, for the model')
    .action((id: string, options: AnswerOptions) => answer(cli, id, false, options));
}

async function list(cli: Cli, { store }: App, { json }: CommonOptions): Promise<void> {
  const open = await store.approvals({ state: 'pending' });
  if (open.length === 0 && !json) cli.print(cli.words.nothing);
  for (const approval of open) {
    if (json) cli.print(JSON.stringify(approval));
    else {
      const { id, tool, reason, args } = approval;
      cli.print(
        `${id} ${cli.style.bold(tool)} ${harmless(reason)}\n  ${cli.style.dim(cli.style.line(JSON.stringify(args) ?? '', 2))}`,
      );
    }
  }
}

function answer(cli: Cli, approvalId: string, approved: boolean, options: AnswerOptions): Promise<void> {
  return withApp(cli, options, async ({ store }) => {
    const known = (await store.approvals({ state: 'pending' })).find(({ id }) => id === approvalId);
    if (known === undefined) return failWith(cli, { code: 'CONFLICT', message: cli.words.tooLate(approvalId) });
    const data = { approvalId, approved, by: 'terminal', ...(options.message && { message: options.message }) };
    const decided = await store.decide({ type: 'approval.decided', callId: known.callId, at: Date.now(), data });
    if (decided !== null) return cli.print(cli.words.decided(approvalId, approved));
    cli.note(cli.words.tooLate(approvalId));
    cli.exitCode = EXIT.failed;
  });
}
