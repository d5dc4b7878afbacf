import type { ChangeItem, PreviewBlock } from '../../kernel/call/approval.ts';
import { type Failure, messageOf } from '../../kernel/error.ts';
import type { Result } from '../../kernel/result.ts';
import { type KeptChanges, keptChanges, nothingKept } from '../../kernel/tool/kept-changes.ts';
import { type ChangeSummary, overtakenNote, summarizeChanges } from '../../kernel/tool/summarize-changes.ts';
import type { ToolResult } from '../../kernel/tool/tool-result.ts';
import type { Stage } from '../../kernel/world/stage.ts';
import type { Runtime } from '../runtime.ts';
import type { CallRequest, CallScope } from './call-scope.ts';
import { executeCall } from './execute.ts';

/**
 * Decides about the pending changes of a call by a call inside it: policy, approval, record and events come from there.
 * Changes that are not kept are discarded. After a conflict they stay pending, so that nothing is lost.
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
  const run = call.request.takeUp ?? ((request) => executeCall(rt, request));
  const args = { stage: stageId, call: call.callId };
  // A door may discard the stage as soon as the refusal is recorded.
  let lost: LostChanges | undefined;
  const onRefused: CallRequest['onRefused'] = async (preview) => {
    lost = await describeLoss(rt, { call, stageId, preview });
  };
  const result = await run({ tool, args, context: call.context, parent: call, onRefused });
  if (result.ok) return keptChanges.parse(result.value);
  lost ??= await describeLoss(rt, { call, stageId });
  if (result.error.code !== 'CONFLICT') await discard(call, stageId);
  const { note = '', ...told } = lost ?? {};
  return { ...nothingKept('discarded', [reasonOf(result.error), note].filter(Boolean).join(' ')), ...told };
}

/**
 * Repeats a call whose command could not write, by a call inside it that asks for the real files: policy, question, record
 * and events come from there. Null inside such a call: it is repeated once.
 */
export async function runLive(rt: Runtime, call: CallScope): Promise<ToolResult | null> {
  if (call.request.isLive) return null;
  const { takeUp, tool } = call.request;
  const run = takeUp ?? ((request) => executeCall(rt, request));
  return run({ tool, args: call.args, context: call.context, parent: call, isLive: true });
}

async function discard(call: CallScope, stageId: string): Promise<void> {
  const found = await findStage(call, stageId);
  if (found.ok) await found.value.discard();
}

function findStage(call: CallScope, stageId: string): Promise<Result<Stage>> {
  return call.ctx.stages.find(stageId, { session: call.session, workspace: call.context.workingDir });
}

/** All that the outcome tells of changes that are not kept: afterwards nothing else does. */
type LostChanges = ChangeSummary & Pick<KeptChanges, 'notKept'> & { readonly note: string };
type ChangeDiff = NonNullable<KeptChanges['notKept']>[number];

async function describeLoss(rt: Runtime, { call, stageId, preview }: ChangeLoss): Promise<LostChanges | undefined> {
  const found = await findStage(call, stageId);
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

/** The diffs of a preview, as far as there is room for them. */
async function diffsOf(rt: Runtime, preview: () => Promise<readonly PreviewBlock[]>): Promise<ChangeDiff[]> {
  const diffs: ChangeDiff[] = [];
  let room = MAX_DIFF_CHARACTERS;
  try {
    for (const { path, diff = '' } of (await preview()).flatMap(itemsOf)) {
      if (diff === '' || diff.length > room) continue;
      room -= diff.length;
      diffs.push({ path, text: diff });
    }
  } catch (thrown) {
    rt.log.warn({ thrown: messageOf(thrown) }, 'The diffs of changes that were not kept could not be read.');
  }
  return diffs;
}

function itemsOf(block: PreviewBlock): readonly ChangeItem[] {
  return block.kind === 'changes' ? block.items : [];
}

function reasonOf({ code, message }: Pick<Failure, 'code' | 'message'>): string {
  return code === 'CONFLICT' ? `${message} The changes are still pending: keep or discard them.` : message;
}
