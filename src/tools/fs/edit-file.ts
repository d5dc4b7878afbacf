import { z } from 'zod';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { defineTool, type ToolContext } from '../../kernel/tool/tool.ts';
import type { Change, TextFile } from '../../kernel/world/workspace.ts';
import { applyEdits, type EditReport } from './apply-edits.ts';
import { changeApproval } from './change-approval.ts';
import { diffText } from './diff-text.ts';
import { PATH_ALIASES, pathParameter } from './path-parameter.ts';

const MAX_TRIED_BYTES = 1024 * 1024;

const input = z.object({
  path: pathParameter('The file'),
  edits: z
    .array(
      z.object({
        old: z
          .string()
          .describe('The text to replace, exactly as in the file; must match once unless replaceAll is true'),
        new: z.string().describe('The new text'),
        replaceAll: z.boolean().default(false).describe('Replace every occurrence'),
      }),
    )
    .min(1)
    .describe('Applied in order, all or none'),
  version: z.string().optional().describe('The version you read: the call is refused if the file has changed since'),
});
type EditInput = z.output<typeof input>;

export const editFile = defineTool({
  name: 'edit_file',
  category: ToolCategory.FILE,
  effect: 'once',
  patterns: 'paths',
  description:
    'Replace text in a file. old must match exactly once unless replaceAll is true. If there is no exact match, ' +
    'only line endings, trailing blanks and uniform indentation may differ; the result says which. ' +
    'Every byte outside the edits stays unchanged.',
  input,
  output: z.object({
    path: z.string(),
    size: z.number(),
    version: z.string(),
    edits: z.array(z.object({ strategy: z.string(), count: z.int(), line: z.int() })),
    diff: z.string(),
  }),
  aliases: PATH_ALIASES,

  summary: ({ path, edits }) => `Edit ${path} (${edits.length} ${edits.length === 1 ? 'edit' : 'edits'})`,
  access: ({ path }) => [{ kind: 'fs.write', path }],
  async approval(given, ctx) {
    const reason = changeApproval(ctx, [given.path]);
    const found = reason === undefined ? undefined : ctx.files.inspect(given.path);
    // An edit that does not match needs no approval; in a large file the search is not repeated.
    unaskedEdits.delete(given);
    if (found?.ok !== true || found.value.size > MAX_TRIED_BYTES) return reason;
    if ((await plan(given, ctx)).ok) return reason;
    unaskedEdits.add(given);
    return undefined;
  },

  async preview(given, ctx) {
    const planned = await plan(given, ctx);
    const would = planned.ok ? await ctx.files.rehearse([planned.value.change]) : planned;
    if (!planned.ok || !would.ok) return `Edit ${given.path}, which would fail: ${failureOf(would)}`;
    return `Would edit ${given.path}.\n${planned.value.diff}`;
  },

  async draft(given, ctx) {
    const read = await ctx.files.readText(given.path);
    const edited = read.ok ? applyEdits(read.value.text, given.edits, given.path) : read;
    if (!read.ok || !edited.ok) return undefined;
    const before = read.value.text;
    const withText = (text: string) => ({ ...given, edits: [{ old: before, new: text }] });
    return { path: given.path, before, after: edited.value.text, withText };
  },

  async run(given, ctx) {
    const planned = await plan(given, ctx);
    if (!planned.ok) return planned;
    if (unaskedEdits.has(given)) return hasBeenApplied(given.path);
    const done = await ctx.files.apply([planned.value.change]);
    if (!done.ok) return done;
    const [applied] = done.value;
    if (applied?.kind !== 'write') return fail('INTERNAL', 'The workspace gave no answer to an edit.');
    const { path, size, version } = applied;
    return ok({ path, size, version, edits: [...planned.value.edits], diff: planned.value.diff });
  },

  render: ({ path, edits, diff }) => [`Edited ${path}${inexact(edits)}.`, diff].join('\n'),
  view: ({ path, diff }) => [
    { kind: 'files', paths: [path] },
    { kind: 'diff', text: diff },
  ],
});

interface EditPlan {
  readonly change: Change;
  readonly edits: readonly EditReport[];
  readonly diff: string;
}

/**
 * Cached by the arguments object: a call is planned for its approval, its preview and its run, mostly with the same
 * file.
 */
const cachedPlans = new WeakMap<EditInput, { readonly version: string; readonly planned: Result<EditPlan> }>();

/** Edits that needed no approval because they did not match. */
const unaskedEdits = new WeakSet<EditInput>();

async function plan(given: EditInput, ctx: ToolContext): Promise<Result<EditPlan>> {
  const read = await ctx.files.readText(given.path);
  if (!read.ok) return read;
  const known = cachedPlans.get(given);
  if (known?.version === read.value.version) return known.planned;
  const planned = planFor(given, read.value);
  cachedPlans.set(given, { version: read.value.version, planned });
  return planned;
}

function planFor({ path, edits, version }: EditInput, read: TextFile): Result<EditPlan> {
  const stale = version !== undefined && version !== read.version;
  const edited = stale ? ok({ text: read.text, reports: [] }) : applyEdits(read.text, edits, path);
  if (!edited.ok) return edited;
  const change = changeOf(path, read, { text: edited.value.text, version: version ?? read.version });
  return ok({ change, edits: edited.value.reports, diff: diffText(read.text, edited.value.text).text });
}

/** Writes only if the file is unchanged since it was read; with a version given, since the caller read it. */
function changeOf(path: string, { encoding, bom }: TextFile, edited: { text: string; version: string }): Change {
  const { text, version } = edited;
  return { kind: 'write', path, content: { text, form: { encoding, bom } }, expect: { version } };
}

function hasBeenApplied(path: string): Result<never> {
  return fail('CONFLICT', `${path} was just changed by another program; nothing was written. Read it, then try again.`);
}

function inexact(edits: readonly { strategy: string }[]): string {
  const loose = [...new Set(edits.map(({ strategy }) => strategy).filter((strategy) => strategy !== 'exact'))];
  return loose.length === 0 ? '' : `; matched with different ${loose.join(' and ')}`;
}

function failureOf(result: Result<unknown>): string {
  return result.ok ? '' : result.error.message;
}
