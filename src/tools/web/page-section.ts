import { fail, ok, type Result } from '../../kernel/result.ts';
import { markUntrusted } from './mark-untrusted.ts';

/** A heading and its position in the text. */
export interface Heading {
  readonly level: number;
  readonly text: string;
  readonly at: number;
}

const MAX_HEADINGS = 40;
const MAX_HEADING_CHARS = 100;

/** Returns the text from a heading to the next one of its level or above. */
export function pageSection(text: string, headings: readonly Heading[], wanted: string): Result<string> {
  const name = plain(wanted);
  const found =
    headings.find((each) => plain(each.text) === name) ??
    headings.find((each) => plain(each.text).startsWith(name)) ??
    headings.find((each) => plain(each.text).includes(name));
  if (found === undefined) return unknownSection(wanted, headings);
  const next = headings.find(({ at, level }) => at > found.at && level <= found.level);
  return ok(text.slice(found.at, next?.at).trim());
}

/** Lists the headings of a markdown text. */
export function markdownHeadings(markdown: string): Heading[] {
  const headings: Heading[] = [];
  let fence: string | null = null;
  let at = 0;
  for (const line of markdown.split('\n')) {
    const mark = /^\s*(`{3,})/.exec(line)?.[1];
    const heading = fence === null ? /^(#{1,6}) (.+)$/.exec(line) : null;
    if (heading !== null) headings.push({ level: heading[1]?.length ?? 1, text: heading[2] ?? '', at });
    if (fence === null) fence = mark ?? null;
    else if (mark !== undefined && line.trim() === fence) fence = null;
    at += line.length + 1;
  }
  return headings;
}

/** Lists the page's headings, marked as untrusted. */
function unknownSection(wanted: string, headings: readonly Heading[]): Result<never> {
  const names = headings.slice(0, MAX_HEADINGS).map(({ text }) => text.replace(/^#+ /, '').slice(0, MAX_HEADING_CHARS));
  const what = `The page has no section "${wanted}".`;
  if (names.length === 0) return fail('INVALID_INPUT', `${what} It has no headings; leave section out.`);
  return fail('INVALID_INPUT', `${what} Choose one of its headings.\n${markUntrusted(names.join('\n'))}`, {
    headings: names,
  });
}

function plain(text: string): string {
  return text
    .slice(0, MAX_COMPARED_CHARS)
    .replace(/[*_`~#]|\[|\]\([^)]*\)/g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .toLowerCase();
}

const MAX_COMPARED_CHARS = 500;
