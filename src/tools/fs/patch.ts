import { fail, type Result } from '../../kernel/result.ts';

export interface PatchLine {
  readonly op: ' ' | '-' | '+';
  readonly text: string;
  /** "\ No newline at end of file" follows the line. */
  readonly open: boolean;
}

export interface Hunk {
  /** First old line, if the patch gives it; counted from 1. */
  readonly oldStart: number | null;
  /** Anchor lines above the hunk in order, such as a class and a method, to tell it from similar places. */
  readonly after: readonly string[];
  /** Its old lines are the last ones of the file. */
  readonly atEnd: boolean;
  readonly lines: readonly PatchLine[];
}

export type FilePatch =
  | { readonly kind: 'add'; readonly path: string; readonly lines: readonly PatchLine[]; readonly mode?: number }
  /** With hunks, the file must have the content they delete. */
  | { readonly kind: 'delete'; readonly path: string; readonly hunks: readonly Hunk[] }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo: string | null; readonly hunks: readonly Hunk[] };

export function wrong(line: number, why: string): Result<never> {
  return fail('INVALID_INPUT', `The patch cannot be read at line ${line}: ${why}.`, { line });
}

/** Returns false for anything but a line of a hunk. A blank context line may have lost its blank. */
export function addLine(lines: PatchLine[], line: string): boolean {
  if (line.startsWith('\\')) {
    const last = lines.pop();
    if (last !== undefined) lines.push({ ...last, open: true });
    return true;
  }
  const op = line === '' ? ' ' : line[0];
  if (op !== ' ' && op !== '-' && op !== '+') return false;
  lines.push({ op, text: line.slice(1), open: false });
  return true;
}
