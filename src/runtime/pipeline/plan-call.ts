import { createHash } from 'node:crypto';
import type { PresentedCall, PreviewBlock } from '../../kernel/call/approval.ts';
import { andThen, isResult, type MaybePromise } from '../../kernel/result.ts';
import { type Access, UNKNOWN_ACCESS } from '../../kernel/tool/access.ts';
import { type OwnReason, type Plan, type PlanFailure, type PlanResult, planFailure } from '../../kernel/tool/plan.ts';
import type { ToolContext } from '../../kernel/tool/tool.ts';
import type { Draft } from '../../kernel/tool/view.ts';
import type { AppliedChange, Change, Files, PlannedPlace, RehearsedChange } from '../../kernel/world/workspace.ts';
import { previewOfChanges } from './preview-changes.ts';
import { placesOf } from './resolve-symlinks.ts';

/** A plan with everything that follows from it. */
export interface DerivedPlan {
  readonly ok: true;
  /** The plan of the tool; its writes expect the versions that were rehearsed. `run` gets this object. */
  readonly plan: Plan;
  readonly access: readonly Access[];
  readonly own: OwnReason | undefined;
  /** The expected versions by real path. */
  readonly seen: PresentedCall['seen'];
  /** Where the paths lead that it changes, to be compared when it does. Undefined when it changes none. */
  readonly places: readonly PlannedPlace[] | undefined;
  /** The blocks are made when somebody looks at them. */
  preview(): MaybePromise<readonly PreviewBlock[]>;
  draft(): Draft | undefined;
}

/** Derives access, reasons, preview and draft from the plan of a tool, or says why the call cannot work. */
export function derivePlan(
  planned: MaybePromise<PlanResult<unknown>>,
  ctx: ToolContext,
): MaybePromise<DerivedPlan | PlanFailure> {
  return andThen(planned, (result) => {
    if (!isResult(result)) throw new TypeError('its plan must return ok(plan) or fail(code, message)');
    if (!result.ok) return result;
    const plan = result.value as Plan;
    return plan.changes === undefined ? withoutChanges(plan, ctx) : withChanges(plan, plan.changes, ctx.files);
  });
}

function withoutChanges(plan: Plan, ctx: ToolContext): DerivedPlan {
  const { access = UNKNOWN_ACCESS, approval: own, preview = [] } = plan;
  const [seen, places] = [{}, placesOf(access, ctx)];
  return { ok: true, plan, access, own, seen, places, preview: () => toBlocks(preview), draft: () => undefined };
}

async function withChanges(plan: Plan, changes: readonly Change[], files: Files): Promise<DerivedPlan | PlanFailure> {
  const would = await files.rehearse(changes);
  if (!would.ok) return planFailure(would, accessOf(changes, plan));
  const rehearsed = would.value;
  const applied = rehearsed.map((each) => each.applied);
  const bound = changes.map((change, index) => asRehearsed(change, rehearsed[index]));
  const { preview } = plan;
  return {
    ok: true,
    plan: { ...plan, changes: bound },
    access: accessOf(bound, plan),
    own: reasonToAsk(plan, rehearsed),
    seen: expectedVersions(rehearsed),
    places: rehearsed.flatMap(({ places }) => places),
    preview: () => (preview === undefined ? previewOfChanges(applied) : toBlocks(preview)),
    draft: () => draftOf(plan, applied),
  };
}

/** A write that names no version of its own expects the file as it was rehearsed, and a move that replaces nothing a free name. */
function asRehearsed(change: Change, rehearsed: RehearsedChange | undefined): Change {
  if (change.kind === 'move' && rehearsed?.applied.kind === 'move')
    return { ...change, overwrite: rehearsed.applied.replaced };
  if (change.kind !== 'write' || rehearsed?.applied.kind !== 'write') return change;
  const { applied, versions, basis } = rehearsed;
  const version = versions[applied.path];
  const found = version === undefined ? undefined : applied.created ? ('absent' as const) : { version };
  const expect = change.expect ?? found;
  return { ...change, ...(expect && { expect }), ...(basis && { basis }) };
}

function accessOf(changes: readonly Change[], { access = [] }: Plan): Access[] {
  return [...changes.flatMap(accessOfChange), ...access];
}

function accessOfChange(change: Change): Access[] {
  if (change.kind === 'move') {
    const { from, to, overwrite } = change;
    const source = { kind: 'fs.delete', path: from, recursive: true } as const;
    if (overwrite) return [source, { kind: 'fs.write', path: to }];
    return [
      { ...source, movedTo: to },
      { kind: 'fs.write', path: to, expect: 'absent' },
    ];
  }
  const { path } = change;
  if (change.kind === 'delete') return [{ kind: 'fs.delete', path, recursive: change.recursive ?? false }];
  if (change.kind !== 'write') return [{ kind: 'fs.write', path }];
  return [{ kind: 'fs.write', path, ...(change.expect !== undefined && { expect: change.expect }) }];
}

/**
 * Policy sees names, and a symlink with a harmless name may lead to a protected file, so no rule about names lifts that
 * reason.
 */
function reasonToAsk(plan: Plan, rehearsed: readonly RehearsedChange[]): OwnReason | undefined {
  for (const { places } of rehearsed) {
    const guarded = places.find(({ protectedBecause }) => protectedBecause !== null);
    if (guarded !== undefined) return { reason: guarded.protectedBecause ?? '', always: true };
  }
  if (plan.approval !== undefined) return plan.approval;
  const reason = rehearsed.map(({ applied }) => lossIn(applied)).find((each) => each !== undefined);
  return reason !== undefined && plan.asksAlways ? { reason, always: true } : reason;
}

function lossIn(applied: AppliedChange): string | undefined {
  if (applied.kind === 'write') return applied.created ? undefined : `It changes ${applied.path}, which exists.`;
  if (applied.kind === 'mode') return `It changes the permissions of ${applied.path}.`;
  if (applied.kind === 'take') return applied.created ? undefined : `It changes ${applied.path}, which exists.`;
  if (applied.kind === 'move') return applied.replaced ? `It changes ${applied.to}, which exists.` : undefined;
  const { path, deleted } = applied;
  return deleted.length > 1 ? `It deletes ${path} with ${deleted.length - 1} entries.` : `It deletes ${path}.`;
}

const MAX_VERSIONS = 50;

/** Of a large plan the first versions are named, and the others are bound by one hash. */
function expectedVersions(rehearsed: readonly RehearsedChange[]): PresentedCall['seen'] {
  const all = rehearsed.flatMap(({ versions }) => Object.entries(versions));
  const rest = all.slice(MAX_VERSIONS);
  if (rest.length === 0) return Object.fromEntries(all);
  const hash = createHash('sha256').update(JSON.stringify(rest)).digest('hex').slice(0, 32);
  return { ...Object.fromEntries(all.slice(0, MAX_VERSIONS)), [`and ${rest.length} more`]: hash };
}

function draftOf({ withText }: Plan, [applied, ...more]: readonly AppliedChange[]): Draft | undefined {
  if (withText === undefined || more.length > 0 || applied?.kind !== 'write' || applied.after === null)
    return undefined;
  if (!applied.created && applied.before === null) return undefined;
  const { path, before, after } = applied;
  return { path, before: before ?? '', after, withText: (text) => withText(text, before ?? '') };
}

function toBlocks(preview: NonNullable<Plan['preview']>): MaybePromise<readonly PreviewBlock[]> {
  if (typeof preview === 'function') return preview();
  return typeof preview === 'string' ? splitAtDiff(preview) : preview;
}

/** Splits a text into its words and the unified diff that follows them. */
export function splitAtDiff(text: string): PreviewBlock[] {
  const start = text.search(/^@@ /m);
  const [words, diff] = start === -1 ? [text, ''] : [text.slice(0, start), text.slice(start)];
  const blocks: PreviewBlock[] = [];
  if (words.trim() !== '') blocks.push({ kind: 'text', text: words.trimEnd(), truncated: false });
  if (diff !== '') blocks.push({ kind: 'diff', text: diff, truncated: false });
  return blocks;
}
