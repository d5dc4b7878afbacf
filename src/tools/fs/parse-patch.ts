import { ok, type Result } from '../../kernel/result.ts';
import { parseUnified } from './parse-unified.ts';
import { addLine, type FilePatch, type Hunk, type PatchLine, wrong } from './patch.ts';

/** Parses either form. Text before the first file, such as a mail, is skipped. */
export function parsePatch(patch: string): Result<FilePatch[]> {
  const lines = patch.replace(/\r\n/g, '\n').split('\n');
  const parsed = lines.some((line) => line.trim() === '*** Begin Patch') ? parseBlocks(lines) : parseUnified(lines);
  if (!parsed.ok || parsed.value.length > 0) return parsed;
  return wrong(1, 'it names no file. Give a unified diff with --- and +++ lines, or *** Begin Patch blocks');
}

/** Parses "*** Begin Patch" with "*** Add File:", "*** Update File:" or "*** Delete File:" sections. */
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
  if (verb === 'Delete') return ok({ kind: 'delete', path, hunks: [] });
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

function parseHunks(body: readonly string[], firstLine: number): Result<Hunk[]> {
  const hunks: { oldStart: number | null; after: string[]; atEnd: boolean; lines: PatchLine[] }[] = [];
  const given = body.at(-1) === '' ? body.slice(0, -1) : body;
  for (const [index, line] of given.entries()) {
    const last = hunks.at(-1);
    if (line.startsWith('@@')) {
      const numbers = /^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@/.exec(line);
      const anchor = numbers === null ? line.replace(/^@@|@@\s*$/g, '').trim() : '';
      const hunk = last?.lines.length === 0 ? last : { oldStart: null, after: [], atEnd: false, lines: [] };
      if (hunk !== last) hunks.push(hunk);
      if (numbers !== null) hunk.oldStart = Number(numbers[1]);
      if (anchor !== '') hunk.after.push(anchor);
      continue;
    }
    const hunk = last ?? { oldStart: null, after: [], atEnd: false, lines: [] };
    if (last === undefined) hunks.push(hunk);
    if (line.startsWith('*** End of File')) hunk.atEnd = true;
    else if (!addLine(hunk.lines, line)) return wrong(firstLine + index, 'a line starts with neither blank, + nor -');
  }
  return ok(hunks.filter((hunk) => hunk.lines.length > 0));
}
