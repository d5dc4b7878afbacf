import { applyPatch, structuredPatch } from 'diff';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { ClassifiedChange, Stage } from '../../kernel/world/stage.ts';

const MAX_TEXT_BYTES = 1024 * 1024;

/** One side of a changed file as text: empty where there is no such side, null where it is large or no text. */
export async function textOf(stage: Stage, change: ClassifiedChange, side: 'before' | 'after'): Promise<string | null> {
  const read = await readText(stage, change, side);
  return read.ok ? read.value : null;
}

/** The same; CONFLICT for pending content that is not what was shown. */
async function readText(
  stage: Stage,
  change: ClassifiedChange,
  side: 'before' | 'after',
): Promise<Result<string | null>> {
  const version = change[side];
  if (version === null) return ok('');
  if (version.type !== 'file' || version.size > MAX_TEXT_BYTES) return ok(null);
  const read = await stage.read(change.path, side, MAX_TEXT_BYTES);
  if (!read.ok && read.error.code === 'CONFLICT') return read;
  return ok(read.ok && read.value !== null ? decode(read.value) : null);
}

function decode(bytes: Uint8Array): string | null {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  try {
    const decoded = text.decode(bytes);
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
  const before = await textOf(stage, change, 'before');
  const read = await readText(stage, change, 'after');
  if (!read.ok) return read;
  const after = read.value;
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

/** The text of a person instead of that of the command, which must still be the one that the person saw. */
export async function withText(stage: Stage, change: ClassifiedChange, text: string): Promise<Result<string>> {
  const read = await readText(stage, change, 'after');
  return read.ok ? ok(text) : read;
}
