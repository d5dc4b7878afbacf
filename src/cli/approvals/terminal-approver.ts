import type { ApprovalRequest, ApprovalResponse, Approver } from '../../kernel/ports.ts';
import { readObject } from '../arguments/call-arguments.ts';
import type { Cli } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import type { AlwaysAnswer } from './always-answer.ts';
import { askChanges } from './ask-changes.ts';
import { detailLines } from './details.ts';
import { editInEditor, editorOf } from './edit-in-editor.ts';
import { previewLines } from './preview.ts';
import type { Prompter } from './prompter.ts';

/** Preview lines shown with a question; "?" shows all. */
const MAX_LINES = 30;

interface TerminalApproverOptions {
  /** Where the answer "always" goes. Left out or undefined: it is not offered. */
  readonly always?: () => AlwaysAnswer | undefined;
}

interface TerminalQuestion {
  readonly request: ApprovalRequest;
  readonly signal: AbortSignal;
  readonly always: AlwaysAnswer | undefined;
}

const NO: ApprovalResponse = { approved: false, by: 'terminal' };
const YES: ApprovalResponse = { approved: true, by: 'terminal' };

/**
 * Asks the person at the terminal, right below the call in question. No answer means no. Questions come one after the
 * other, and only text typed after a question was shown answers it.
 */
export function createTerminalApprover(
  cli: Cli,
  prompter: () => Prompter,
  { always }: TerminalApproverOptions = {},
): Approver {
  let before: Promise<unknown> = Promise.resolve();
  return {
    ask(request, signal): Promise<ApprovalResponse> {
      const asked = before.then(() => askOne(cli, prompter(), { request, signal, always: always?.() }));
      before = asked.catch(() => {});
      return asked;
    },
  };
}

async function askOne(cli: Cli, prompter: Prompter, question: TerminalQuestion): Promise<ApprovalResponse> {
  const { words } = cli;
  const { request, signal, always } = question;
  if (signal.aborted) return NO;
  const block = request.shown.preview.find((each) => each.kind === 'changes');
  if (block !== undefined) return askChanges(cli, prompter, { request, block, signal });
  const rules = (await always?.rulesFor(request.id)) ?? [];
  show(cli, request, rules);
  for (;;) {
    const answer = await prompter.ask(`  ${rules.length > 0 ? words.askKeysAlways : words.askKeys}`, { signal });
    const key = (answer ?? 'n').trim().toLowerCase();
    if (['y', 'yes', '是'].includes(key)) return YES;
    if (['a', 'always', '总是'].includes(key) && rules.length > 0) {
      const saved = await saveAlways(cli, question, rules);
      if (saved !== undefined) return saved;
    } else if (key === 'e') {
      const modifiedArgs = await editArguments(cli, prompter, question);
      if (modifiedArgs !== undefined) return { ...YES, modifiedArgs };
    } else if (key === '?') for (const line of detailLines(cli, request)) cli.print(`  ${line}`);
    else if (answer === undefined) return NO;
    else if (['n', 'no', '否'].includes(key)) {
      const message = (await prompter.ask(`  ${words.askWhy}`, { signal }))?.trim();
      return message ? { ...NO, message } : NO;
    }
  }
}

function show(cli: Cli, request: ApprovalRequest, rules: readonly string[]): void {
  const { words, style, print } = cli;
  const title = style.bold(words.ask(harmless(request.tool)));
  print(`\n${style.yellow('?')} ${title} ${style.line(request.summary, 30)}`);
  print(`  ${harmless(words.said(request.reason))}`);
  for (const line of previewLines(request.shown.preview, cli, MAX_LINES)) print(`  ${line}`);
  if (rules.length > 0) print(style.dim(`  ${harmless(words.alwaysSaves(rules.join(', ')))}`));
}

/** Undefined when the rules cannot be saved: then another answer is possible. */
async function saveAlways(
  { words, print, note }: Cli,
  { request, always }: TerminalQuestion,
  rules: readonly string[],
): Promise<ApprovalResponse | undefined> {
  const answered = await always?.save(request.id, rules);
  if (answered?.kind === 'answered') {
    print(`  ${harmless(words.saved(rules.join(', ')))}`);
    return { ...YES, recorded: true };
  }
  if (answered?.kind !== 'refused') return NO;
  note(`  ${harmless(words.said(answered.error.message))}`);
  return undefined;
}

/**
 * Lets the person edit the arguments as JSON, in their own editor or else in the line; returns undefined when the person
 * cancels.
 */
async function editArguments(
  { words, note, io }: Cli,
  prompter: Prompter,
  { request: { args }, signal }: TerminalQuestion,
): Promise<Record<string, unknown> | undefined> {
  const editor = editorOf(io);
  for (let text = toJson(args, 2); ; ) {
    const edited =
      editor === undefined
        ? await prompter.ask(`  ${words.askEdit}`, { prefill: toJson(args), signal })
        : await prompter.leaveTerminal(() => editInEditor(io, editor, text));
    // An editor that was left without a change cancels, as an empty line does.
    if (edited === undefined || edited.trim() === '' || (editor !== undefined && edited === text)) return undefined;
    const read = readObject(edited, words.notJson);
    if (read.ok) return read.value;
    note(`  ${read.error.message}`);
    text = edited;
  }
}
