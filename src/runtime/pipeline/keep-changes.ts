import type { ChangeItem, PreviewBlock } from '../../kernel/call/approval.ts';
import type { FinalState } from '../../kernel/call/call.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Result } from '../../kernel/result.ts';
import { type KeptChanges, keptChanges, nothingKept } from '../../kernel/tool/kept-changes.ts';
import { type ChangeSummary, overtakenNote, summarizeChanges } from '../../kernel/tool/summarize-changes.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { Stage } from '../../kernel/world/stage.ts';
import { hideInOutput } from '../../secrets/output/hide-in-output.ts';
import type { Runtime } from '../runtime.ts';
import type { CallRequest, CallScope, Ending } from './call-scope.ts';

/**
 * Decides about the pending changes of a call by a call inside it: policy, approval, record and events come from there.
 * Changes that somebody or the policy refused are discarded. After any other failure, such as a conflict or a full disk,
 * they stay pending, so that nothing is lost.
 */
export async function keepChanges(rt: Runtime, call: CallScope, stageId: string): Promise<KeptChanges> {
  const tool = rt.madeByRuntime();
  if (tool === undefined) {
    return nothingKept(
      'discarded',
      'Nothing here can keep pending changes: register the tool apply_changes of the built-in tools.',
    );
  }
  // `takeUp` is the executor's: the call can then be stopped by its own id.
  const run = call.request.takeUp ?? rt.execute;
  const args = { stage: stageId, call: call.callId };
  // A door may discard the stage as soon as the refusal is recorded.
  let lost: LostChanges | undefined;
  const onRefused: CallRequest['onRefused'] = async (preview) => {
    lost = await describeLoss(rt, { call, stageId, preview });
  };
  const result = await run({ tool, args, context: call.context, parent: call, onRefused });
  if (result.ok) return keptChanges.parse(result.value);
  lost ??= await describeLoss(rt, { call, stageId });
  const { note = '', ...told } = lost ?? {};
  const pending = await findPending(call, stageId);
  const reason = [result.error.message, pending.ok ? stillPending(stageId) : '', note].filter(Boolean).join(' ');
  return { ...nothingKept('discarded', reason), ...told };
}

/** The ends of a call that was refused, that nobody answered, or that was stopped before it started. */
const REFUSED: ReadonlySet<FinalState> = new Set(['denied', 'expired', 'cancelled']);

/**
 * Discards the changes that a call was to keep, once nobody wants them any more. A call that a person made to keep them
 * leaves them pending: it says what stands in the way.
 */
export async function discardRefused(rt: Runtime, call: CallScope, { state, result }: Ending): Promise<void> {
  const { parent, resume } = call.request;
  if (result.ok || result.error.code === 'CONFLICT' || !REFUSED.has(state)) return;
  // Arguments that were lost say nothing about the changes.
  if ((parent === undefined && resume === undefined) || resume?.isIncomplete) return;
  try {
    const { stage } = (call.args ?? {}) as { stage?: unknown };
    const found = await findPending(call, String(stage));
    if (found.ok) await found.value.discard();
  } catch (error) {
    rt.log.warn({ callId: call.callId }, `Refused changes are still there: ${messageOf(error)}`);
  }
}

/**
 * Repeats a call whose command could not write, by a call inside it that asks for the real files: policy, question, record
 * and events come from there. Null inside such a call: it is repeated once.
 */
export async function runLive(rt: Runtime, call: CallScope): Promise<ToolResult | null> {
  if (call.request.isLive) return null;
  const { takeUp: run = rt.execute, tool } = call.request;
  return run({ tool, args: call.args, context: call.context, parent: call, isLive: true });
}

/** Changes are found by the session and workspace of the call whose command made them. */
function findPending({ ctx, session, context }: CallScope, stageId: string): Promise<Result<Stage>> {
  return ctx.stages.find(stageId, { session, workspace: context.workingDir });
}

function stillPending(stageId: string): string {
  return `The changes are still pending: keep them with toolwright keep ${stageId}, or discard them with toolwright discard ${stageId}.`;
}

/** All that the outcome tells of changes that are not kept: afterwards nothing else does. */
type LostChanges = ChangeSummary & Pick<KeptChanges, 'notKept'> & { readonly note: string };
type ChangeDiff = NonNullable<KeptChanges['notKept']>[number];

async function describeLoss(rt: Runtime, { call, stageId, preview }: ChangeLoss): Promise<LostChanges | undefined> {
  const found = await findPending(call, stageId);
  if (!found.ok) return undefined;
  const { changes } = found.value;
  const diffs = preview === undefined ? [] : await diffsOf(rt, preview);
  const told = { ...summarizeChanges(changes), note: overtakenNote(changes) };
  return diffs.length === 0 ? told : { ...told, notKept: diffs };
}

interface ChangeLoss {
  readonly call: CallScope;
  readonly stageId: string;
  readonly preview?: () => Promise<readonly PreviewBlock[]>;
}

const MAX_DIFF_CHARACTERS = 20_000;

/** The diffs of a preview, as far as there is room for them. The person saw them whole; the model gets them without secrets. */
async function diffsOf(rt: Runtime, preview: () => Promise<readonly PreviewBlock[]>): Promise<ChangeDiff[]> {
  const diffs: ChangeDiff[] = [];
  let room = MAX_DIFF_CHARACTERS;
  try {
    const values = await rt.world.secretValues?.();
    for (const { path, diff = '' } of (await preview()).flatMap(itemsOf)) {
      if (diff === '' || diff.length > room) continue;
      room -= diff.length;
      diffs.push({ path, text: hideInOutput(diff, values) });
    }
  } catch (thrown) {
    rt.log.warn({ thrown: messageOf(thrown) }, 'The diffs of changes that were not kept could not be read.');
  }
  return diffs;
}

function itemsOf(block: PreviewBlock): readonly ChangeItem[] {
  return block.kind === 'changes' ? block.items : [];
}
