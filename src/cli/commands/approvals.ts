import type { Command } from 'commander';
import { answersIn } from '../../app/approvals/open-answers.ts';
import type { App } from '../../app/open-app.ts';
import type { ApprovalRecord, PresentedCall } from '../../kernel/call/approval.ts';
import type { AnswerOutcome } from '../../kernel/call/approval-answers.ts';
import { previewLines } from '../approvals/preview.ts';
import { readObject } from '../arguments/call-arguments.ts';
import { type Cli, failWith } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

interface AnswerOptions extends CommonOptions {
  readonly message?: string;
  readonly input?: string;
  readonly always?: string;
}

export function define(command: Command, cli: Cli): void {
  const { words } = cli;
  const sub = (text: string, about: string) =>
    addAppOptions(command.command(text).description(about).copyInheritedSettings(command), cli);
  addAppOptions(command, cli).action((options: CommonOptions) =>
    withApp(cli, options, (app) => list(cli, app, options)),
  );
  sub('list', words.actions.list).action((options: CommonOptions) =>
    withApp(cli, options, (app) => list(cli, app, options)),
  );
  sub('show <id>', words.actions.showApproval)
    .option('--input <json>', words.options.edit)
    .action((id: string, options: AnswerOptions) => withApp(cli, options, (app) => show(cli, app, id, options)));
  sub('approve <id>', words.actions.approve)
    .option('--input <json>', words.options.edit)
    .option('--always', words.options.always)
    .action((id: string, options: AnswerOptions) => withApp(cli, options, (app) => approve(cli, app, id, options)));
  sub('deny <id>', words.actions.refuse)
    .option('--message <text>', words.options.denyMessage)
    .action((id: string, options: AnswerOptions) =>
      withApp(cli, options, async (app) => said(cli, id, await answersIn(app).deny(id, 'terminal', options.message))),
    );
}

async function list(cli: Cli, { store }: App, { json }: CommonOptions): Promise<void> {
  const open = await store.approvals({ state: 'pending' });
  if (open.length === 0 && !json) cli.print(cli.words.nothing);
  for (const approval of open) {
    if (json) cli.print(toJson(approval));
    else {
      const { id, tool, reason, args } = approval;
      cli.print(
        `${id} ${cli.style.bold(harmless(tool))} ${harmless(cli.words.said(reason))}\n  ${cli.style.dim(cli.style.line(toJson(args), 2))}`,
      );
    }
  }
}

/** Shows a question, or its effect with other arguments; decides nothing. */
async function show(cli: Cli, app: App, id: string, options: AnswerOptions): Promise<void> {
  const { input, json } = options;
  const approval = await app.store.approval(id);
  if (approval === null) return said(cli, id, { kind: 'unknown' });
  if (input !== undefined) {
    await reviewed(cli, app, approval, options);
    return;
  }
  if (json) return cli.print(toJson(approval));
  cli.print(`${cli.style.bold(harmless(approval.tool))} ${harmless(cli.words.said(approval.reason))}`);
  shown(cli, approval.args, approval.shown);
  const always = await answersIn(app).proposal(approval);
  if (always.ok) cli.print(harmless(cli.words.wouldSave(always.value.rules.join(', '))));
}

async function approve(cli: Cli, app: App, id: string, options: AnswerOptions): Promise<void> {
  const answers = answersIn(app);
  const approval = await app.store.approval(id);
  if (approval === null) return said(cli, id, { kind: 'unknown' });
  if (options.input !== undefined) {
    const edit = await reviewed(cli, app, approval, options);
    if (edit !== undefined) said(cli, id, await answers.approve(id, 'terminal', edit));
    return;
  }
  if (!options.always) return said(cli, id, await answers.approve(id, 'terminal'));
  const proposal = await answers.proposal(approval);
  const answered = await answers.approve(id, 'terminal', { always: true });
  said(cli, id, answered);
  if (proposal.ok && answered.kind === 'answered')
    cli.print(harmless(cli.words.saved(proposal.value.rules.join(', '))));
}

/** Shows the effect of edited arguments and returns the digest that binds an approval to them. */
async function reviewed(
  cli: Cli,
  app: App,
  { id, args }: ApprovalRecord,
  { input = '', json }: AnswerOptions,
): Promise<{ modifiedArgs: Record<string, unknown>; digest: string } | undefined> {
  const given = readObject(input, cli.words.notAnObject('--input'));
  if (!given.ok) return failed(cli, given.error);
  // Parameters left out keep the value of the question.
  const modifiedArgs = { ...(args as Record<string, unknown>), ...given.value };
  const review = await answersIn(app).review(id, modifiedArgs);
  if (review.kind !== 'reviewed') {
    said(cli, id, review);
    return undefined;
  }
  const { edit, changed } = review;
  if (json) cli.print(toJson({ args: edit.args, changed, shown: edit.shown, verdict: edit.verdict }));
  else {
    cli.print(harmless(cli.words.runsInstead(changed.join(', '))));
    shown(cli, edit.args, edit.shown);
  }
  return { modifiedArgs, digest: edit.digest };
}

function failed(cli: Cli, error: Parameters<typeof failWith>[1]): undefined {
  failWith(cli, error);
  return undefined;
}

function shown(cli: Cli, args: unknown, about: PresentedCall | null): void {
  if (about !== null) cli.print(`  ${harmless(about.summary)}`);
  cli.print(cli.style.dim(`  ${toJson(args)}`));
  for (const line of previewLines(about?.preview ?? [], cli)) cli.print(`  ${line}`);
}

function said(cli: Cli, id: string, answered: AnswerOutcome): void {
  const { noApproval, tooLate, decided } = cli.words;
  if (answered.kind === 'answered') cli.print(decided(id, answered.approval.state === 'approved'));
  else if (answered.kind === 'refused') failWith(cli, answered.error);
  else failWith(cli, { code: 'CONFLICT', message: answered.kind === 'unknown' ? noApproval(id) : tooLate(id) });
}
