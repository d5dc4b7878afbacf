import type { ElicitRequestFormParams } from '@modelcontextprotocol/server';
import type { ChangeItem } from '../../kernel/call/approval.ts';
import { changeFacts } from '../../kernel/call/change-item.ts';
import { type ChangesBlock, readSelection } from '../../kernel/call/read-selection.ts';
import type { ApprovalRequest, ApprovalResponse } from '../../kernel/ports.ts';
import { oneLine, visible } from '../../kernel/text/visible.ts';

const MAX_MESSAGE_CHARS = 8000;
const DECISION = 'decision';
const PATHS = 'paths';
const REASON = 'reason';

/** The pending changes that a question is about; undefined for every other question. */
export function changesOf({ shown }: ApprovalRequest): ChangesBlock | undefined {
  return shown.preview.find((block) => block.kind === 'changes');
}

/** The form that asks whether the changes of a command are kept. `problem` tells why it is asked again. */
export function changesForm(request: ApprovalRequest, block: ChangesBlock, problem?: string): ElicitRequestFormParams {
  const note = problem === undefined ? '' : `${problem}\n`;
  return {
    mode: 'form',
    message: note + changesMessage(request, block),
    requestedSchema: {
      type: 'object',
      properties: {
        [DECISION]: {
          type: 'string',
          title: 'Decision',
          description: 'discard: the workspace stays as it was, and the model gets your reason',
          enum: ['keep', 'discard'],
          enumNames: ['Keep the changes', 'Discard them'],
        },
        [PATHS]: {
          type: 'string',
          title: 'Only these paths',
          description: 'Separated by spaces; a folder stands for everything in it, PATH:1,3 for hunks. Empty: all',
        },
        [REASON]: { type: 'string', title: 'Reason', description: 'Reason for the model, sent with discard' },
      },
      required: [DECISION],
    },
  };
}

/** Reads the answered form. Only the exact value "keep" keeps. A path that is not among the changes is a problem. */
export function changesAnswer(
  request: ApprovalRequest,
  block: ChangesBlock,
  { answer, by }: { readonly answer: unknown; readonly by: string },
): ApprovalResponse | { readonly problem: string } {
  const { action, content } = (answer ?? {}) as { action?: unknown; content?: unknown };
  const fields = (typeof content === 'object' && content !== null ? content : {}) as Record<string, unknown>;
  if (action !== 'accept' || fields[DECISION] !== 'keep') {
    const reason = fields[REASON];
    const dismissed = action === 'cancel' ? 'the question was dismissed without an answer.' : undefined;
    const message = typeof reason === 'string' && reason.trim() !== '' ? reason : dismissed;
    return { approved: false, by, ...(message !== undefined && { message }) };
  }
  const line = fields[PATHS];
  if (typeof line !== 'string' || line.trim() === '') return { approved: true, by };
  const read = readSelection(line, block);
  if ('selection' in read) return { approved: true, by, modifiedArgs: { ...request.args, ...read.selection } };
  if ('unknown' in read) return { problem: `${oneLine(read.unknown)} is not among the changes: name listed paths.` };
  return { problem: `${oneLine(read.path)} has ${read.hunks} hunks: name numbers from 1 to ${read.hunks}.` };
}

/** Whether the form can tell everything that must be read. A list that was cut never fits. */
export function changesFit(request: ApprovalRequest, block: ChangesBlock): boolean {
  const isWhole = !block.truncated && block.items.every((item) => !needsDiff(item) || item.truncated !== true);
  return isWhole && necessaryLines(request, block).join('\n').length <= MAX_MESSAGE_CHARS;
}

/** Deletions, protected files with their whole diff and changed files are always told; the rest while there is room. */
function changesMessage(request: ApprovalRequest, block: ChangesBlock): string {
  const lines = necessaryLines(request, block);
  let room = MAX_MESSAGE_CHARS - lines.join('\n').length;
  const add = (more: string): boolean => {
    if (more.length + 1 > room) return false;
    room -= more.length + 1;
    lines.push(more);
    return true;
  };
  const rest = block.items.filter((item) => !isNecessary(item));
  const untold = rest.filter((item) => !add(lineOf(item)));
  if (untold.length > 0) add(`… and ${untold.length} new or installed files or folders`);
  for (const item of block.items) if (!needsDiff(item) && item.diff) add(`${shownPath(item)}:\n${quoted(item.diff)}`);
  return lines.join('\n');
}

function necessaryLines({ reason }: ApprovalRequest, { title, items, repository }: ChangesBlock): string[] {
  const told = items.filter(isNecessary).map((item) => lineOf(item) + (needsDiff(item) ? diffBelow(item) : ''));
  const git = repository.map((line) => `git: ${oneLine(line)}`);
  return [`Keep what this command changed? ${oneLine(title)}`, oneLine(reason), ...told, ...git];
}

const SUMMED_UP = new Set<ChangeItem['class']>(['new', 'ignored', 'packages']);

function isNecessary({ kind, class: of, loses }: ChangeItem): boolean {
  return kind === 'deleted' || loses === true || !SUMMED_UP.has(of);
}

function needsDiff(item: ChangeItem): boolean {
  return item.class === 'protected';
}

function diffBelow({ diff }: ChangeItem): string {
  return diff ? `\n${quoted(diff)}` : '';
}

const KINDS = { created: 'new', modified: 'changed', deleted: 'deleted', mode: 'mode changed' } as const;

function lineOf(item: ChangeItem): string {
  return `${KINDS[item.kind]} ${shownPath(item)}${changeFacts(item)}`;
}

function shownPath({ path, entries, inside }: ChangeItem): string {
  return oneLine(path) + (entries === undefined && inside === undefined ? '' : '/');
}

/** Indents every line, so that none can pass for one of ours. */
function quoted(diff: string): string {
  return visible(diff).replace(/\n$/, '').replace(/^/gm, '  | ');
}
