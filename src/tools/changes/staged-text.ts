import { applyPatch, structuredPatch } from 'diff';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';

const MAX_TEXT_BYTES = 1024 * 1024;

/** One side of a changed file as text: empty where there is no such side, null where it is large or no text. */
export async function textOf(stage: Stage, change: ClassifiedChange, side: 'before' | 'after'): Promise<string | null> {
  const version = change[side];
  if (version === null) return '';
  if (version.type !== 'file' || version.size > MAX_TEXT_BYTES) return null;
  const read = await stage.read(change.path, side, MAX_TEXT_BYTES);
  if (!read.ok || read.value === null) return null;
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    const decoded = text.decode(read.value);
    return decoded.includes('\0') ? null : decoded;
  } catch {
    return null;
  }
}

/** The text with only some of its hunks changed, counted from 1 as the diff shows them. */
export async function withHunks(
  stage: Stage,
  change: ClassifiedChange,
  chosen: readonly number[],
): Promise<Result<string>> {
  const [before, after] = [await textOf(stage, change, 'before'), await textOf(stage, change, 'after')];
  if (before === null || after === null) {
    return fail('INVALID_INPUT', `${change.path} has no text to choose hunks from: keep it whole, or leave it out.`);
  }
  const patch = structuredPatch('', '', before, after, '', '', { context: 3 });
  const { hunks } = patch;
  const wrong = chosen.find((number) => number < 1 || number > hunks.length);
  if (wrong !== undefined) {
    return fail('INVALID_INPUT', `${change.path} has ${hunks.length} hunks, and no hunk ${wrong}.`);
  }
  const wanted = hunks.filter((_, index) => chosen.includes(index + 1));
  const text = applyPatch(before, { ...patch, hunks: wanted });
  return text === false ? fail('INTERNAL', `The hunks of ${change.path} could not be put together.`) : ok(text);
}
