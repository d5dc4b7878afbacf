import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The strings that a page's markdown must and must not contain, written down before any conversion. */
export interface Expected {
  readonly url: string;
  readonly headings?: readonly string[];
  readonly links?: readonly (readonly [text: string, url: string])[];
  readonly rows?: readonly (readonly string[])[];
  readonly code?: readonly string[];
  readonly text?: readonly string[];
  readonly absent?: readonly string[];
}

export interface Page {
  readonly name: string;
  readonly html: string;
  readonly expected: Expected;
}

export function readPages(): Page[] {
  const folder = import.meta.dirname;
  const all = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Record<string, Expected>;
  return Object.entries(all).map(([name, expected]) => {
    return { name, expected, html: readFileSync(join(folder, `${name}.html`), 'utf8') };
  });
}

/** Everything that is expected of a page, and which of it its markdown does not have. */
export function missesOf(markdown: string, expected: Expected): { asked: number; missed: string[] } {
  const { headings = [], links = [], rows = [], code = [], text = [], absent = [] } = expected;
  const lines = markdown.split('\n');
  const found = {
    headings: new Set(lines.flatMap((line) => /^#{1,6} (.+)$/.exec(line)?.[1] ?? []).map(plain)),
    rows: lines.filter((line) => line.trim().startsWith('|')).map(cellsOf),
    code: fences(markdown),
    text: plain(markdown),
  };
  const checks: (readonly [string, boolean])[] = [
    ...headings.map((each) => [`heading ${each}`, found.headings.has(plain(each))] as const),
    ...links.map(([label, url]) => [`link ${label} → ${url}`, hasLink(markdown, label, url)] as const),
    ...rows.map((row) => [`row ${row.join(' | ')}`, found.rows.some((cells) => holdsInOrder(cells, row))] as const),
    ...code.map((each) => [`code ${each}`, found.code.some((block) => block.includes(each))] as const),
    ...text.map((each) => [`text ${each}`, found.text.includes(plain(each))] as const),
    ...absent.map((each) => [`without ${each}`, !markdown.includes(each)] as const),
  ];
  return { asked: checks.length, missed: checks.filter(([, holds]) => !holds).map(([what]) => what) };
}

function hasLink(markdown: string, label: string, url: string): boolean {
  const marked = [label, `\`${label}\``, `*${label}*`, `**${label}**`, label.replace(/[#_[\]]/g, '\\$&')];
  return marked.some((each) => new RegExp(`\\[${escaped(each)}\\]\\(${escaped(url)}( "[^"]*")?\\)`).test(markdown));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}

function cellsOf(line: string): string[] {
  return line
    .trim()
    .split(/(?<!\\)\|/)
    .map(plain)
    .filter((cell) => cell !== '');
}

function holdsInOrder(cells: readonly string[], row: readonly string[]): boolean {
  let at = 0;
  for (const wanted of row) {
    const found = cells.indexOf(plain(wanted), at);
    if (found === -1) return false;
    at = found + 1;
  }
  return true;
}

function fences(markdown: string): string[] {
  return [...markdown.matchAll(/^[ >]*(`{3,})[^\n]*\n([\s\S]*?)\n[ >]*\1/gm)].map(([, , code = '']) => code);
}

/** Without marks and escapes, so that different ways to write the same markdown count the same. */
function plain(text: string): string {
  return text
    .replace(/!?\[((?:\\.|[^\]\\])*)\]\([^)]*\)/g, '$1')
    .replace(/\\([^a-z0-9\s])/gi, '$1')
    .replace(/[*_`~]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
