import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const page = join(import.meta.dirname, '..', 'docs', 'benchmarks.md');

/** Puts the latest table of one benchmark into its section of the page, in alphabetical order. */
export function writeSection(name: string, content: string): void {
  const [head = '', ...sections] = readFileSync(page, 'utf8').split(/^(?=## )/m);
  const others = sections.filter((section) => !section.startsWith(`## ${name}\n`));
  const all = [...others, `## ${name}\n\n${content.trim()}\n\n`].sort();
  writeFileSync(page, `${head}${all.join('')}`.trimEnd().concat('\n'));
}
