import type { ChangeItem, PreviewBlock } from '../../kernel/call/approval.ts';
import { changeFacts, toChangeItem } from '../../kernel/call/change-item.ts';
import { ok } from '../../kernel/result.ts';
import { oneLine } from '../../kernel/text/visible.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';
import type { Runtime } from '../runtime.ts';
import { type CallScope, type Ending, ending, failedByItself } from './call-scope.ts';
import type { PlannedCall } from './judge-call.ts';
import { previewBlocks, requireString } from './present-call.ts';
import { reviewCall } from './review.ts';

/**
 * Describes a call by its preview, and by its real effect where the tool can find that out: the call runs where nothing
 * is kept. A call that needs approval is tried only if policy says that such a run has none of the effects that it asks about. The
 * tool's `run` is never called.
 */
export async function dryRun(rt: Runtime, call: CallScope, planned: PlannedCall): Promise<Ending> {
  const { tool, input, access, wouldAsk, verdict } = planned;
  call.stage = 'definition';
  const preview = textOfBlocks(await previewBlocks(call, planned));
  const what = preview === '' ? requireString('summary', tool.summary(input)) : preview;
  const question = wouldAsk === undefined ? '' : `\nIt would need approval first: ${wouldAsk}`;
  const first = `[Dry Run] Would run: ${what}${question}`;
  if (tool.rehearse === undefined || (wouldAsk !== undefined && !verdict.mayRehearse)) return described(first);
  call.stage = 'tool';
  call.admitted = access;
  const seconds = tool.seconds?.(input, call.ctx);
  const rehearsed = await call.bounded(tool.rehearse(input, call.ctx), { seconds, evicted: rt.eviction?.signal });
  if (!rehearsed.ok) return failedByItself(rehearsed);
  const { text, stage } = rehearsed.value;
  const effect = stage === null ? '' : `\n${await judgedEffect(rt, call, stage)}`;
  return described(`${first}\n${text}${effect}`);
}

function described(text: string): Ending {
  return ending('succeeded', ok(text, { dryRun: true }));
}

/** The changes of a rehearsal with the verdict about them. They are discarded. */
async function judgedEffect(rt: Runtime, call: CallScope, stageId: string): Promise<string> {
  const found = await call.ctx.stages.find(stageId, { session: call.session, workspace: call.context.workingDir });
  try {
    const tool = rt.madeByRuntime();
    if (tool === undefined) return 'It would change files; nothing here can show them.';
    const args = { stage: stageId, call: call.callId };
    const reviewed = await reviewCall(rt, { tool, args, context: call.context, parent: call });
    if (!reviewed.ok) return `Its changes would not be kept: ${reviewed.error.message}`;
    const { shown, verdict, subject } = reviewed.value;
    const kept = subject.changes ?? [];
    const left = found.ok ? leftOut(found.value, kept) : [];
    if (kept.length === 0) return left.join('\n');
    return [textOfBlocks(shown.preview), ...left, `${AFTERWARDS[verdict.verdict]}${verdict.reason}`].join('\n');
  } finally {
    if (found.ok) await found.value.discard();
  }
}

const AFTERWARDS = {
  allow: 'These changes would be kept without a question. ',
  ask: 'Keeping these changes would need approval: ',
  deny: 'These changes would not be kept: ',
};

const MAX_LEFT_OUT = 50;

/** Changes that nobody may keep: what has no ordinary form, secrets, and the half-done work of a run that was stopped. */
function leftOut({ changes, isPartial }: Stage, kept: readonly ClassifiedChange[]): string[] {
  const paths = new Set(kept.map(({ path, kind }) => `${kind} ${path}`));
  const left = changes.filter(({ path, kind }) => !paths.has(`${kind} ${path}`));
  if (left.length === 0) return [];
  const named = left.slice(0, MAX_LEFT_OUT).map((change) => lineOf(toChangeItem(change)));
  const more = left.length > named.length ? [`  and ${left.length - named.length} more`] : [];
  return [isPartial ? 'Not kept, because it was stopped before its end:' : 'Never kept:', ...named, ...more];
}

function textOfBlocks(blocks: readonly PreviewBlock[]): string {
  return blocks.flatMap(linesOf).join('\n');
}

function linesOf(block: PreviewBlock): string[] {
  if (block.kind === 'diff' || block.kind === 'text') return [block.text];
  if (block.kind !== 'changes') return [];
  const { items, total, truncated, repository } = block;
  const more = truncated ? [`[${total} changed paths in all; the list shows the first]`] : [];
  return ['It would change:', ...repository, ...items.map(lineOf), ...more, ...items.flatMap(diffOf)];
}

function lineOf(item: ChangeItem): string {
  return `  ${item.kind} ${oneLine(item.path)}${changeFacts(item)}`;
}

function diffOf({ path, diff, truncated }: ChangeItem): string[] {
  if (diff === undefined || diff === '') return truncated ? [`--- ${oneLine(path)}: its diff is too long to show`] : [];
  return [`--- ${oneLine(path)}`, diff.trimEnd()];
}
