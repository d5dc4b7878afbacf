import type { ChangeItem } from '../../kernel/call/approval.ts';
import { type ChangesBlock, readSelection } from '../../kernel/call/read-selection.ts';
import type { ApprovalRequest, ApprovalResponse } from '../../kernel/ports.ts';
import type { ChangesSelection } from '../../kernel/tool/kept-changes.ts';
import type { Cli } from '../cli.ts';
import { harmless } from '../text/style.ts';
import { changesDiffs, changesList, paintDiffLine } from './changes-lines.ts';
import type { Prompter } from './prompter.ts';

/** Lines of diffs shown with the question, beside those of protected files; "v" shows all. */
const MAX_LINES = 30;

export interface ChangesPrompt {
  readonly request: ApprovalRequest;
  readonly block: ChangesBlock;
  readonly signal: AbortSignal;
}

/** Asks whether the changes of a command are kept: all, a part, or none. No answer discards them. */
export async function askChanges(
  cli: Cli,
  prompter: Prompter,
  { request, block, signal }: ChangesPrompt,
): Promise<ApprovalResponse> {
  const { words, style } = cli;
  show(cli, request, block);
  for (;;) {
    const answer = await prompter.ask(`  ${words.keepKeys}`, { signal });
    const key = (answer ?? '').trim().toLowerCase();
    if (answer === undefined) return { approved: false, by: 'terminal' };
    if (['k', 'keep', '保留'].includes(key)) return { approved: true, by: 'terminal' };
    if (['v', 'view', '?', '查看'].includes(key)) {
      for (const line of changesDiffs(block.items, words)) cli.print(`  ${paintDiffLine(line, style)}`);
    } else if (['p', 'part', '部分'].includes(key)) {
      const part = await askPart(cli, prompter, { request, block, signal });
      if (part !== undefined) return { approved: true, modifiedArgs: { ...request.args, ...part }, by: 'terminal' };
    } else if (['d', 'discard', '放弃'].includes(key)) {
      const message = (await prompter.ask(`  ${words.askWhy}`, { signal }))?.trim();
      return { approved: false, by: 'terminal', ...(message && { message }) };
    }
  }
}

function show({ words, style, print }: Cli, { reason }: ApprovalRequest, block: ChangesBlock): void {
  print(`\n${style.yellow('?')} ${style.bold(words.askKeep(style.line(block.title, 30)))}`);
  print(`  ${harmless(words.said(reason))}`);
  for (const line of changesList(block, words)) print(`  ${line}`);
  const isProtected = (item: ChangeItem) => item.class === 'protected';
  const rest = changesDiffs(
    block.items.filter((item) => !isProtected(item)),
    words,
  );
  const shown = [...changesDiffs(block.items.filter(isProtected), words), ...rest.slice(0, MAX_LINES)];
  for (const line of shown) print(`  ${paintDiffLine(line, style)}`);
  if (rest.length > MAX_LINES) print(`  ${words.moreLines(rest.length - MAX_LINES)}`);
}

/** Reads paths until all of them are among the changes. An empty line goes back to the question. */
async function askPart(
  { words, note }: Cli,
  prompter: Prompter,
  { block, signal }: ChangesPrompt,
): Promise<ChangesSelection | undefined> {
  for (;;) {
    const line = await prompter.ask(`  ${words.askPaths}`, { signal });
    if (line === undefined || line.trim() === '') return undefined;
    const read = readSelection(line, block);
    if ('selection' in read) return read.selection;
    note(`  ${harmless('unknown' in read ? words.notAChange(read.unknown) : words.noHunk(read.path, read.hunks))}`);
  }
}
