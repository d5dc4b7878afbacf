import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const page = join(import.meta.dirname, '..', 'docs', 'benchmarks.md');

/**
 * Puts the latest table of one benchmark into its section of the page, in alphabetical order. What stands there under a
 * heading of its own was written by hand, and stays.
 */
export function writeSection(name: string, content: string): void {
  const [head = '', ...sections] = readFileSync(page, 'utf8').split(/^(?=## )/m);
  const isOurs = (section: string) => section.startsWith(`## ${name}\n`);
  const [, ...byHand] = sections.find(isOurs)?.split(/^(?=### )/m) ?? [];
  const ours = [`## ${name}\n\n${content.trim()}\n\n`, ...byHand].join('');
  const all = [...sections.filter((section) => !isOurs(section)), ours].sort();
  writeFileSync(page, `${head}${all.map((section) => `${section.trimEnd()}\n\n`).join('')}`.trimEnd().concat('\n'));
}
