import type { ApprovalRequest, ApprovalResponse, Approver } from '../../kernel/ports.ts';
import { isPlainObject } from '../../kernel/tool/check-arguments.ts';
import type { Cli } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { askChanges } from './ask-changes.ts';
import { detailLines } from './details.ts';
import { previewLines } from './preview.ts';
import type { Prompter } from './prompter.ts';

/** Preview lines shown with a question; "?" shows all. */
const MAX_LINES = 30;

/**
 * Asks the person at the terminal, right below the call in question. No answer means no. Questions come one after the
 * other, and only text typed after a question was shown answers it.
 */
export function createTerminalApprover(cli: Cli, prompter: () => Prompter): Approver {
  let before: Promise<unknown> = Promise.resolve();
  return {
    ask(request, signal): Promise<ApprovalResponse> {
      const asked = before.then(() => askOne(cli, prompter(), request, signal));
      before = asked.catch(() => {});
      return asked;
    },
  };
}

async function askOne(
  cli: Cli,
  prompter: Prompter,
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<ApprovalResponse> {
  const { words, style } = cli;
  if (signal.aborted) return { approved: false, by: 'terminal' };
  const block = request.shown.preview.find((each) => each.kind === 'changes');
  if (block !== undefined) return askChanges(cli, prompter, { request, block, signal });
  cli.print(
    `\n${style.yellow('?')} ${style.bold(words.ask(harmless(request.tool)))} ${style.line(request.summary, 30)}`,
  );
  cli.print(`  ${harmless(words.said(request.reason))}`);
  for (const line of previewLines(request.shown.preview, cli, MAX_LINES)) cli.print(`  ${line}`);
  for (;;) {
    const answer = await prompter.ask(`  ${words.askKeys}`, { signal });
    const key = (answer ?? 'n').trim().toLowerCase();
    if (['y', 'yes', '是'].includes(key)) return { approved: true, by: 'terminal' };
    if (key === 'e') {
      const modifiedArgs = await editArguments(cli, prompter, request, signal);
      if (modifiedArgs !== undefined) return { approved: true, modifiedArgs, by: 'terminal' };
    } else if (key === '?') for (const line of detailLines(cli, request)) cli.print(`  ${line}`);
    else if (answer === undefined) return { approved: false, by: 'terminal' };
    else if (['n', 'no', '否'].includes(key)) {
      const message = (await prompter.ask(`  ${words.askWhy}`, { signal }))?.trim();
      return message ? { approved: false, message, by: 'terminal' } : { approved: false, by: 'terminal' };
    }
  }
}

/** Lets the person edit the arguments as JSON in the line; returns undefined when the person cancels. */
async function editArguments(
  { words, note }: Cli,
  prompter: Prompter,
  { args }: ApprovalRequest,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  for (;;) {
    const line = await prompter.ask(`  ${words.askEdit}`, { prefill: toJson(args), signal });
    if (line === undefined || line.trim() === '') return undefined;
    try {
      const value: unknown = JSON.parse(line);
      if (isPlainObject(value)) return value;
    } catch {
      // Reported below.
    }
    note(`  ${words.notJson}`);
  }
}
