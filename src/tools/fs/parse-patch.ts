import { fail, ok, type Result } from '../../kernel/result.ts';

export interface PatchLine {
  readonly op: ' ' | '-' | '+';
  readonly text: string;
  /** «\ No newline at end of file» stands below it. */
  readonly open: boolean;
}

export interface Hunk {
  /** Where the old lines start, if the patch says so; counted from 1. */
  readonly oldStart: number | null;
  /** A line above the hunk, to tell it from others like it. */
  readonly after: string | null;
  readonly lines: readonly PatchLine[];
}

export type FilePatch =
  | { readonly kind: 'add'; readonly path: string; readonly lines: readonly PatchLine[] }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'update'; readonly path: string; readonly moveTo: string | null; readonly hunks: readonly Hunk[] };

/** Reads either form. What stands before the first file, such as a mail's text, is passed over. */
export function parsePatch(patch: string): Result<FilePatch[]> {
  const lines = patch.replace(/\r\n/g, '\n').split('\n');
  const parsed = lines.some((line) => line.trim() === '*** Begin Patch') ? parseBlocks(lines) : parseUnified(lines);
  if (!parsed.ok || parsed.value.length > 0) return parsed;
  return wrong(1, 'it names no file. Give a unified diff with --- and +++ lines, or *** Begin Patch blocks');
}

/** «*** Begin Patch», then «*** Add File:», «*** Update File:» or «*** Delete File:» sections. */
function parseBlocks(lines: readonly string[]): Result<FilePatch[]> {
  const files: FilePatch[] = [];
  let at = lines.findIndex((line) => line.trim() === '*** Begin Patch') + 1;
  while (at < lines.length) {
    const line = lines[at] as string;
    const head = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line.trimEnd());
    if (line.trim() === '*** End Patch') return ok(files);
    if (line.trim() === '') {
      at++;
      continue;
    }
    if (head === null) return wrong(at + 1, `'${line.slice(0, 60)}' does not belong to a file`);
    const [, verb, path = ''] = head;
    const body: string[] = [];
    const start = ++at;
    for (
      ;
      at < lines.length && !/^\*\*\* (Add|Update|Delete) File: |^\*\*\* End Patch/.test(lines[at] as string);
      at++
    ) {
      body.push(lines[at] as string);
    }
    const file = parseSection(verb as string, path.trim(), body, start + 1);
    if (!file.ok) return file;
    files.push(file.value);
  }
  return wrong(lines.length, 'the line *** End Patch is missing');
}

function parseSection(verb: string, path: string, body: readonly string[], line: number): Result<FilePatch> {
  if (verb === 'Delete') return ok({ kind: 'delete', path });
  if (verb === 'Add') {
    const given = body.at(-1) === '' ? body.slice(0, -1) : body;
    const stray = given.findIndex((text) => !text.startsWith('+'));
    if (stray >= 0) return wrong(line + stray, 'every line of a new file starts with +');
    return ok({ kind: 'add', path, lines: given.map((text) => ({ op: '+', text: text.slice(1), open: false })) });
  }
  const move = /^\*\*\* Move to: (.+)$/.exec(body[0] ?? '')?.[1]?.trim() ?? null;
  const hunks = parseHunks(move === null ? body : body.slice(1), line);
  return hunks.ok ? ok({ kind: 'update', path, moveTo: move, hunks: hunks.value }) : hunks;
}

function parseUnified(lines: readonly string[]): Result<FilePatch[]> {
  const files: FilePatch[] = [];
  let renameFrom: string | undefined;
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] as string;
    if (line.startsWith('rename from ')) renameFrom = line.slice(12).trim();
    if (line.startsWith('rename to ') && renameFrom !== undefined && !followed(lines, at)) {
      files.push({ kind: 'update', path: renameFrom, moveTo: line.slice(10).trim(), hunks: [] });
    }
    const next = lines[at + 1];
    if (!line.startsWith('--- ') || next?.startsWith('+++ ') !== true) continue;
    const [from, to] = [headerPath(line), headerPath(next)];
    const body: string[] = [];
    const start = at + 2;
    for (at = start; at < lines.length && !isNextFile(lines, at); at++) body.push(lines[at] as string);
    at--;
    const hunks = parseHunks(body, start + 1);
    if (!hunks.ok) return hunks;
    files.push(toFilePatch(from, to, hunks.value));
  }
  return ok(files);
}

function followed(lines: readonly string[], at: number): boolean {
  const rest = lines.slice(at + 1, at + 5);
  const next = rest.findIndex((line) => line.startsWith('diff ') || line.startsWith('--- '));
  return next >= 0 && rest[next]?.startsWith('--- ') === true;
}

function isNextFile(lines: readonly string[], at: number): boolean {
  const line = lines[at] as string;
  if (line.startsWith('diff ') || line.startsWith('Index: ')) return true;
  return (
    line.startsWith('--- ') && lines[at + 1]?.startsWith('+++ ') === true && lines[at + 2]?.startsWith('@@') === true
  );
}

function toFilePatch(from: string, to: string, hunks: readonly Hunk[]): FilePatch {
  if (from === '/dev/null') return { kind: 'add', path: plain(to, 'b/'), lines: hunks.flatMap((hunk) => hunk.lines) };
  if (to === '/dev/null') return { kind: 'delete', path: plain(from, 'a/') };
  const [path, target] = [plain(from, 'a/'), plain(to, 'b/')];
  return { kind: 'update', path, moveTo: path === target ? null : target, hunks };
}

function headerPath(line: string): string {
  return line.slice(4).replace(/\t.*$/, '').trim();
}

function plain(path: string, prefix: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

function parseHunks(body: readonly string[], firstLine: number): Result<Hunk[]> {
  const hunks: { oldStart: number | null; after: string | null; lines: PatchLine[] }[] = [];
  const given = body.at(-1) === '' ? body.slice(0, -1) : body;
  for (const [index, line] of given.entries()) {
    if (line.startsWith('*** End of File')) continue;
    if (line.startsWith('@@')) {
      const numbers = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@/.exec(line);
      const after = numbers === null ? line.slice(2).trim() || null : null;
      hunks.push({ oldStart: numbers === null ? null : Number(numbers[1]), after, lines: [] });
      continue;
    }
    if (hunks.length === 0) hunks.push({ oldStart: null, after: null, lines: [] });
    const hunk = hunks.at(-1) as (typeof hunks)[number];
    if (line.startsWith('\\')) {
      const last = hunk.lines.pop();
      if (last !== undefined) hunk.lines.push({ ...last, open: true });
      continue;
    }
    const op = line === '' ? ' ' : line[0];
    if (op !== ' ' && op !== '-' && op !== '+')
      return wrong(firstLine + index, 'a line starts with neither blank, + nor -');
    hunk.lines.push({ op, text: line.slice(1), open: false });
  }
  return ok(hunks.filter((hunk) => hunk.lines.length > 0));
}

function wrong(line: number, why: string): Result<never> {
  return fail('INVALID_INPUT', `The patch cannot be read at line ${line}: ${why}.`, { line });
}
