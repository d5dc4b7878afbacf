import { fail, ok, type Result } from '../../kernel/result.ts';

interface Heading {
  readonly level: number;
  readonly text: string;
  readonly line: number;
}

const MOST_NAMED = 40;
const LONGEST_HEADING = 500;

/** The part of a markdown text from a heading to the next one of its level or above. */
export function pageSection(markdown: string, wanted: string): Result<string> {
  const lines = markdown.split('\n');
  const headings = headingsOf(lines);
  const name = plain(wanted);
  const found =
    headings.find(({ text }) => plain(text) === name) ??
    headings.find(({ text }) => plain(text).startsWith(name)) ??
    headings.find(({ text }) => plain(text).includes(name));
  if (found === undefined) return unknownSection(wanted, headings);
  const next = headings.find(({ line, level }) => line > found.line && level <= found.level);
  return ok(lines.slice(found.line, next?.line).join('\n').trim());
}

function headingsOf(lines: readonly string[]): Heading[] {
  const headings: Heading[] = [];
  let fence: string | null = null;
  for (const [line, text] of lines.entries()) {
    const mark = /^\s*(`{3,})/.exec(text)?.[1];
    if (fence !== null) {
      if (mark !== undefined && text.trim() === fence) fence = null;
      continue;
    }
    if (mark !== undefined) fence = mark;
    const heading = /^(#{1,6}) (.+)$/.exec(text);
    if (heading !== null)
      headings.push({ level: heading[1]?.length ?? 1, text: (heading[2] ?? '').slice(0, LONGEST_HEADING), line });
  }
  return headings;
}

function unknownSection(wanted: string, headings: readonly Heading[]): Result<never> {
  const names = headings.slice(0, MOST_NAMED).map(({ text }) => text.slice(0, 100));
  const there =
    names.length === 0 ? 'It has no headings; leave section out.' : `Its headings are: ${names.join(' · ')}`;
  return fail('INVALID_INPUT', `The page has no section «${wanted}». ${there}`, { headings: names });
}

function plain(text: string): string {
  return text
    .replace(/[*_`~#]|\[|\]\([^)]*\)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}
