import { ok, type Result } from '../../kernel/result.ts';
import { addLine, type FilePatch, type Hunk, type PatchLine, wrong } from './patch.ts';

/** The header of a file in a git diff, above its hunks or instead of them. */
interface Header {
  /** Its first line, counted from 1. */
  readonly line: number;
  readonly names: string;
  addedMode?: number;
  isDeleted?: boolean;
  from?: string;
  to?: string;
  hasBody?: boolean;
}

/** Parses unified diffs of diff, git diff and git format-patch. Unsupported parts are refused, never skipped. */
export function parseUnified(lines: readonly string[]): Result<FilePatch[]> {
  const files: FilePatch[] = [];
  let header: Header | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    if (line.startsWith('diff --git ')) {
      const bare = withoutBody(header);
      if (!bare.ok) return bare;
      files.push(...bare.value);
      header = { line: at + 1, names: line.slice(11) };
    } else if (isFileStart(lines, at)) {
      const body = readHunks(lines, at + 2);
      if (!body.ok) return body;
      const names = { from: pathOf(line.slice(4), 'a/'), to: pathOf((lines[at + 1] as string).slice(4), 'b/') };
      files.push(toFilePatch(names, body.value.hunks, header?.addedMode));
      if (header !== undefined) header.hasBody = true;
      at = body.value.next - 1;
    } else if (header !== undefined) {
      const unusable = noteHeader(header, line);
      if (unusable !== undefined) return wrong(at + 1, unusable);
    }
  }
  const bare = withoutBody(header);
  return bare.ok ? ok([...files, ...bare.value]) : bare;
}

/** Returns why the whole patch cannot be applied, if this line says so. */
function noteHeader(header: Header, line: string): string | undefined {
  const [, key, rest = ''] = /^(new file mode|deleted file mode|rename from|rename to) (.+)$/.exec(line) ?? [];
  if (key === 'new file mode') header.addedMode = Number.parseInt(rest, 8);
  if (key === 'deleted file mode') header.isDeleted = true;
  if (key === 'rename from') header.from = unquoted(rest);
  if (key === 'rename to') header.to = unquoted(rest);
  if (line.startsWith('GIT binary patch') || /^Binary files .* differ$/.test(line)) return 'it changes a binary file';
  if (line.startsWith('copy from ')) return 'it copies a file: add it with its lines instead';
  if (line.startsWith('old mode ')) return 'it changes the mode of a file: leave that out, and use chmod';
  if (header.addedMode !== undefined && (header.addedMode & 0o170000) !== 0o100000)
    return 'it adds a link or a submodule';
  return undefined;
}

/** A file without hunks: an empty one that is added or deleted, or one that only moves. */
function withoutBody(header: Header | undefined): Result<FilePatch[]> {
  if (header === undefined || header.hasBody) return ok([]);
  const { from, to, addedMode, isDeleted } = header;
  if (from !== undefined && to !== undefined) return ok([{ kind: 'update', path: from, moveTo: to, hunks: [] }]);
  if (addedMode === undefined && !isDeleted) return ok([]);
  const path = sameName(header.names);
  if (path === undefined) return wrong(header.line, 'it is not clear which file is meant');
  if (isDeleted) return ok([{ kind: 'delete', path, hunks: [{ oldStart: null, after: [], atEnd: true, lines: [] }] }]);
  return ok([{ kind: 'add', path, lines: [], mode: (addedMode as number) & 0o777 }]);
}

/** `a/x b/x`, where the name may contain blanks. */
function sameName(names: string): string | undefined {
  const quoted = /^("(?:[^"\\]|\\.)*") /.exec(names)?.[1];
  if (quoted !== undefined) return pathOf(quoted, 'a/');
  const half = (names.length - 1) / 2;
  const [left, right] = [names.slice(0, half), names.slice(half + 1)];
  return Number.isInteger(half) && left.slice(2) === right.slice(2) ? left.slice(2) : undefined;
}

function isFileStart(lines: readonly string[], at: number): boolean {
  return lines[at]?.startsWith('--- ') === true && lines[at + 1]?.startsWith('+++ ') === true;
}

const HUNK = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/;

/**
 * Reads a hunk by its line counts. Models count badly, so further lines are included as long as they are unambiguous: a
 * line `--- x` is a deletion only while the counts need more.
 */
function readHunks(lines: readonly string[], start: number): Result<{ hunks: Hunk[]; next: number }> {
  const hunks: Hunk[] = [];
  let at = start;
  while (at < lines.length) {
    const line = lines[at] as string;
    if (line.startsWith('diff ') || line.startsWith('Index: ') || isFileStart(lines, at)) break;
    if (!line.startsWith('@@')) {
      if (hunks.length === 0 && line.trim() !== '') return wrong(at + 1, 'a hunk starts with @@');
      at++;
      continue;
    }
    const numbers = HUNK.exec(line);
    const read = readHunk(lines, at + 1, { old: counted(numbers?.[2]), new: counted(numbers?.[3]) });
    if (!read.ok) return read;
    const oldStart = numbers === null ? null : Number(numbers[1]);
    if (read.value.found.length > 0) hunks.push({ oldStart, after: [], atEnd: false, lines: read.value.found });
    at = read.value.next;
  }
  return ok({ hunks, next: at });
}

function counted(digits: string | undefined): number {
  return digits === undefined ? 1 : Number(digits);
}

function readHunk(
  lines: readonly string[],
  start: number,
  wants: { old: number; new: number },
): Result<{ found: PatchLine[]; next: number }> {
  const found: PatchLine[] = [];
  let [old, added] = [wants.old, wants.new];
  let at = start;
  for (; at < lines.length; at++) {
    const line = lines[at] as string;
    const isDone = old <= 0 && added <= 0;
    if (line.startsWith('@@') || line.startsWith('diff ') || line.startsWith('Index: ')) break;
    if (isFileStart(lines, at) && (old <= 0 || added <= 0)) break;
    if (isDone && (line === '' || /^-- ?$/.test(line) || !/^[ +\\-]/.test(line))) break;
    if (!addLine(found, line)) return wrong(at + 1, 'a line starts with neither blank, + nor -');
    if (!line.startsWith('+') && !line.startsWith('\\')) old--;
    if (!line.startsWith('-') && !line.startsWith('\\')) added--;
  }
  // Empty lines between files are not context.
  for (let last = at - 1; last >= start && lines[last] === ''; last--) found.pop();
  return ok({ found, next: at });
}

function toFilePatch(names: { from: string; to: string }, hunks: readonly Hunk[], mode: number | undefined): FilePatch {
  const { from, to } = names;
  if (from === '/dev/null') {
    const lines = hunks.flatMap((hunk) => hunk.lines).filter(({ op }) => op === '+');
    return { kind: 'add', path: to, lines, ...(mode !== undefined && { mode: mode & 0o777 }) };
  }
  if (to === '/dev/null') return { kind: 'delete', path: from, hunks };
  return { kind: 'update', path: from, moveTo: from === to ? null : to, hunks };
}

function pathOf(given: string, prefix: string): string {
  const path = unquoted((given.split('\t', 1)[0] ?? '').trim());
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', b: '\b', f: '\f', v: '\v', a: '\x07' };

/** Decodes git's quoted names, which escape unusual bytes as C does. */
function unquoted(name: string): string {
  const inside = /^"(.*)"$/s.exec(name)?.[1];
  if (inside === undefined) return name;
  const latin1 = Buffer.from(inside).toString('latin1');
  const bytes = latin1.replace(/\\([0-7]{3}|.)/gs, (_, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
