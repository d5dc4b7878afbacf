import { z } from 'zod';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { diffText } from '../../kernel/text/diff-text.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { type Plan, planFailure } from '../../kernel/tool/plan.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import type { Change, TextFile } from '../../kernel/world/workspace.ts';
import { applyEdits, type EditReport } from './apply-edits.ts';
import { PATH_ALIASES, pathParameter } from './path-parameter.ts';

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
  changesFiles: 'writes',
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
  async plan(given, ctx) {
    const touched: readonly Access[] = [{ kind: 'fs.write', path: given.path }];
    const read = await ctx.files.readText(given.path);
    const planned = read.ok ? await planEdits(given, read.value) : read;
    return planned.ok ? planned : planFailure(planned, touched);
  },

  async run({ changes, edits, diff }, ctx) {
    const done = await ctx.files.apply(changes);
    if (!done.ok) return done;
    const [applied] = done.value;
    if (applied?.kind !== 'write') return fail('INTERNAL', 'The workspace gave no answer to an edit.');
    const { path, size, version } = applied;
    return ok({ path, size, version, edits: [...edits], diff });
  },

  render: ({ path, edits, diff }) => [`Edited ${path}${inexact(edits)}.`, diff].join('\n'),
  view: ({ path, diff }) => [
    { kind: 'files', paths: [path] },
    { kind: 'diff', text: diff },
  ],
});

interface EditPlan extends Plan {
  readonly changes: readonly Change[];
  readonly edits: readonly EditReport[];
  readonly diff: string;
}

async function planEdits(given: EditInput, read: TextFile): Promise<Result<EditPlan>> {
  const { path, edits, version } = given;
  const isStale = version !== undefined && version !== read.version;
  // A stale edit is refused by its version, with a diff of the changes since.
  const edited = isStale ? ok({ text: read.text, reports: [] }) : await applyEdits(read.text, edits, path);
  if (!edited.ok) return edited;
  const { text, reports } = edited.value;
  return ok({
    changes: [changeOf(path, read, { text, version: version ?? read.version })],
    edits: reports,
    diff: diffText(read.text, text).text,
    withText: (wanted, before) => ({ ...given, edits: [{ old: before, new: wanted }] }),
  });
}

/** Writes only if the file is unchanged since it was read; with a version given, since the caller read it. */
function changeOf(path: string, read: TextFile, { text, version }: { text: string; version: string }): Change {
  const { encoding, bom, content: basis } = read;
  return { kind: 'write', path, content: { text, form: { encoding, bom } }, expect: { version }, basis };
}

function inexact(edits: readonly { strategy: string }[]): string {
  const loose = [...new Set(edits.map(({ strategy }) => strategy).filter((strategy) => strategy !== 'exact'))];
  return loose.length === 0 ? '' : `; matched with different ${loose.join(' and ')}`;
}
