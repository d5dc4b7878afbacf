import { z } from 'zod';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { diffText } from '../../kernel/text/diff-text.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { ToolCategory } from '../../kernel/tool/category.ts';
import { planFailure } from '../../kernel/tool/plan.ts';
import { defineTool } from '../../kernel/tool/tool.ts';
import type { Change, Files } from '../../kernel/world/workspace.ts';
import { applyHunks } from './apply-hunks.ts';
import { parsePatch } from './parse-patch.ts';
import type { FilePatch } from './patch.ts';

export const applyPatch = defineTool({
  name: 'apply_patch',
  category: ToolCategory.FILE,
  effect: 'once',
  patterns: 'paths',
  changesFiles: 'both',
  description:
    'Apply a patch to files of the workspace: a unified diff, or "*** Begin Patch" blocks with Add File, Update File, ' +
    'Move to and Delete File. Either all of it is applied or nothing.',
  input: z.object({ patch: z.string().min(1).describe('The patch, with paths relative to the workspace root') }),
  output: z.object({
    files: z.array(
      z.object({ path: z.string(), change: z.enum(['added', 'updated', 'deleted', 'moved']), diff: z.string() }),
    ),
  }),
  aliases: { patch: ['input', 'diff', 'patchText'] },

  summary({ patch }) {
    const files = parsePatch(patch);
    return files.ok ? `Patch ${files.value.map(({ path }) => path).join(', ')}`.slice(0, 200) : 'Apply a patch';
  },
  async plan({ patch }, ctx) {
    const files = parsePatch(patch);
    if (!files.ok) return files;
    const planned = await planFiles(files.value, ctx.files);
    if (!planned.ok) return planFailure(planned, files.value.flatMap(accessOf));
    return ok({ changes: planned.value.flatMap(({ changes }) => changes), files: planned.value });
  },

  async run({ changes, files }, ctx) {
    const done = await ctx.files.apply(changes);
    if (!done.ok) return done;
    return ok({ files: files.map(({ path, change, diff }) => ({ path, change, diff })) });
  },

  render: ({ files }) => files.map(describe).join('\n'),
  view: ({ files }) =>
    files.flatMap(({ path, change, diff }) => [
      { kind: 'text' as const, text: `${path}: ${change}` },
      ...(diff === '' ? [] : [{ kind: 'diff' as const, text: diff }]),
    ]),
});

interface PlannedFile {
  readonly path: string;
  readonly change: 'added' | 'updated' | 'deleted' | 'moved';
  readonly diff: string;
  readonly changes: readonly Change[];
}

async function planFiles(patches: readonly FilePatch[], files: Files): Promise<Result<PlannedFile[]>> {
  const planned: PlannedFile[] = [];
  for (const file of patches) {
    const next = await planFile(file, files);
    if (!next.ok) return next;
    planned.push(next.value);
  }
  return ok(planned);
}

async function planFile(file: FilePatch, files: Files): Promise<Result<PlannedFile>> {
  if (file.kind === 'add') return ok(add(file));
  return file.kind === 'update' ? update(file, files) : remove(file, files);
}

function add({ path, lines, mode }: Extract<FilePatch, { kind: 'add' }>): PlannedFile {
  const text = lines.map((line) => `${line.text}${line.open ? '' : '\n'}`).join('');
  const change: Change = {
    kind: 'write',
    path,
    content: { text },
    expect: 'absent',
    ...(mode !== undefined && { mode }),
  };
  return { path, change: 'added', diff: diffText('', text).text, changes: [change] };
}

/** Deletes a file only if it has the content the diff deletes. */
async function remove(file: Extract<FilePatch, { kind: 'delete' }>, files: Files): Promise<Result<PlannedFile>> {
  const { path, hunks } = file;
  const planned: PlannedFile = { path, change: 'deleted', diff: '', changes: [{ kind: 'delete', path }] };
  if (hunks.length === 0) return ok(planned);
  const read = await files.readText(path);
  if (!read.ok) return read;
  const left = applyHunks(
    read.value.text,
    hunks.filter(({ lines }) => lines.length > 0),
    path,
  );
  if (!left.ok) return left;
  if (left.value === '') return ok(planned);
  return fail('INVALID_INPUT', `${path} has more content than the patch deletes: read it again. Nothing was changed.`);
}

async function update(file: Extract<FilePatch, { kind: 'update' }>, files: Files): Promise<Result<PlannedFile>> {
  const { path, moveTo, hunks } = file;
  if (moveTo !== null && hunks.length === 0) {
    return ok({ path: moveTo, change: 'moved', diff: '', changes: [{ kind: 'move', from: path, to: moveTo }] });
  }
  const read = await files.readText(path);
  if (!read.ok) return read;
  const { text, encoding, bom, version, mode, content: basis } = read.value;
  const patched = applyHunks(text, hunks, path);
  if (!patched.ok) return patched;
  const content = { text: patched.value, form: { encoding, bom } };
  const diff = diffText(text, patched.value).text;
  if (moveTo === null) {
    const change: Change = { kind: 'write', path, content, expect: { version }, basis };
    return ok({ path, change: 'updated', diff, changes: [change] });
  }
  const changes: Change[] = [
    { kind: 'write', path: moveTo, content, expect: 'absent', mode },
    { kind: 'delete', path },
  ];
  return ok({ path: moveTo, change: 'moved', diff, changes });
}

/** Returns the paths that a patch names, for one that cannot be applied. */
function accessOf(file: FilePatch): Access[] {
  if (file.kind === 'delete') return [{ kind: 'fs.delete', path: file.path }];
  const written: Access = { kind: 'fs.write', path: file.path };
  if (file.kind === 'add' || file.moveTo === null) return [written];
  return [
    { kind: 'fs.delete', path: file.path },
    { kind: 'fs.write', path: file.moveTo },
  ];
}

function describe({ path, change, diff }: { path: string; change: string; diff: string }): string {
  return diff === '' ? `${path}: ${change}` : `${path}: ${change}\n${diff}`;
}
