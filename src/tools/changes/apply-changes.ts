import { z } from 'zod';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { KEEPING_TOOL, keptChanges } from '../../kernel/tool/kept-changes.ts';
import { defineTool, type ToolContext } from '../../kernel/tool/tool.ts';
import type { Stage } from '../../kernel/world/stage.ts';
import type { Change } from '../../kernel/world/workspace.ts';
import { changesLine } from './changes-line.ts';
import { keptDiffs } from './kept-diffs.ts';
import { presentChanges } from './present-changes.ts';
import { type SelectedChanges, selectChanges } from './select-changes.ts';
import { withHunks, withText } from './staged-text.ts';
import { toChanges } from './to-changes.ts';
import { toKeptChanges } from './to-kept-changes.ts';

const MAX_PATHS = 100;

const input = z.strictObject({
  stage: z.string().describe('The pending changes'),
  call: z.string().describe('The call whose command made them'),
  paths: z.array(z.string()).optional().describe('Keep only these; a folder stands for everything in it'),
  hunks: z
    .record(z.string(), z.array(z.int()))
    .optional()
    .describe('Of a text file, keep only these hunks of its diff'),
  texts: z.record(z.string(), z.string()).optional().describe('Keep this text instead of the one the command wrote'),
});
type ApplyInput = z.output<typeof input>;

/**
 * Keeps what a command changed. The runtime makes this call itself, inside the call of the command, so that rules,
 * questions, partial answers, records and undo are those of every other call.
 */
export const applyChanges = defineTool({
  name: KEEPING_TOOL,
  category: ToolCategory.FILE,
  effect: 'once',
  patterns: 'paths',
  madeBy: 'runtime',
  description: 'Keep what a command changed in its private view of the workspace.',
  input,
  output: keptChanges.extend({ diffs: z.array(z.object({ path: z.string(), text: z.string() })) }),

  summary: ({ call }) => `Keep what ${call} changed`,
  async plan(given, ctx) {
    const found = await ctx.stages.find(given.stage, { session: ctx.sessionId ?? 'local', workspace: ctx.workingDir });
    if (!found.ok) return found;
    const stage = found.value;
    const selected = selectChanges(stage, given.paths);
    if (!selected.ok) return selected;
    const texts = await editedTexts(stage, selected.value, given);
    if (!texts.ok) return texts;
    const changes = toChanges(stage, selected.value, texts.value);
    if (!changes.ok) return changes;
    const { kept } = selected.value;
    return ok({
      ...{ stage, selected: selected.value, texts: texts.value, toApply: changes.value },
      access: [
        {
          kind: 'fs.apply',
          stage: stage.id,
          digest: stage.digest,
          paths: kept.slice(0, MAX_PATHS).map(({ path }) => path),
          total: kept.length,
        },
      ],
      staged: {
        ...{ changes: kept, isPartial: stage.isPartial, allowedBy: stage.allowedBy },
        isCollected: stage.standsOn !== null,
      },
      preview: async () => [await presentChanges(stage, kept)],
      bound: [stage.digest, given.paths ?? null, given.hunks ?? null, given.texts ?? null],
    });
  },

  async run({ stage, selected, texts, toApply }, ctx) {
    // Before the changes come in: afterwards the old texts are gone.
    const diffs = await keptDiffs(stage, selected.kept, texts);
    const done = await keep(stage, toApply, ctx);
    if (!done.ok) return done;
    await stage.kept(selected.kept.map(({ path }) => path));
    const outcome = toKeptChanges(selected, [...texts.keys()]);
    const isCollected = stage.standsOn !== null && outcome.state === 'kept';
    return ok({ ...outcome, ...(isCollected && { state: 'collected' as const }), diffs });
  },

  render: (kept) => changesLine(kept)[0] ?? 'It changed no files.',
  view: ({ diffs }) =>
    diffs.flatMap(({ path, text }) => [
      { kind: 'files' as const, paths: [path] },
      { kind: 'diff' as const, text },
    ]),
});

async function keep(stage: Stage, changes: readonly Change[], ctx: ToolContext): Promise<Result<unknown>> {
  return changes.length === 0
    ? ok(undefined)
    : ctx.files.apply(changes, { callId: stage.callId, onto: stage.standsOn, stage: stage.id });
}

/** Texts that differ from those of the command: chosen hunks, then texts that a person wrote. */
async function editedTexts(
  stage: Stage,
  { kept }: SelectedChanges,
  { hunks = {}, texts = {} }: ApplyInput,
): Promise<Result<Map<string, string>>> {
  const edited = new Map<string, string>();
  for (const change of kept) {
    const chosen = Object.hasOwn(hunks, change.path) ? hunks[change.path] : undefined;
    if (chosen === undefined) continue;
    const text = await withHunks(stage, change, chosen);
    if (!text.ok) return text;
    edited.set(change.path, text.value);
  }
  const byPath = new Map(kept.map((change) => [change.path, change]));
  for (const [path, wanted] of Object.entries(texts)) {
    const change = byPath.get(path);
    if (change === undefined) {
      return fail(
        'INVALID_INPUT',
        `${path} is not among the changes to keep: name it in paths, or leave its text out.`,
      );
    }
    const text = await withText(stage, change, wanted);
    if (!text.ok) return text;
    edited.set(path, text.value);
  }
  return ok(edited);
}
