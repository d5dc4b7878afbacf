// Part of `npm run check`: the house rules of AGENTS.md that a program can judge. Known violations stand in
// scripts/house-rules.json, a list that may only shrink. `--shrink` takes mended entries out of it; `--init` writes it
// where there is none.
import { join } from 'node:path';
import { judgeFolders } from './house-rules/folder-rules.ts';
import { judgeFunctions } from './house-rules/function-rules.ts';
import { compare, mergePlaces, readKnown, shrink, writeKnown } from './house-rules/known-list.ts';
import { judgeNames } from './house-rules/name-rules.ts';
import { judgeProse } from './house-rules/prose-rules.ts';
import { readSourceTree } from './house-rules/source-tree.ts';
import { ADVICE, type Violation } from './house-rules/violation.ts';
import { readOptions } from './options.ts';

const LIST = 'scripts/house-rules.json';

const { values: options } = readOptions({ options: { init: { type: 'boolean' }, shrink: { type: 'boolean' } } });
const root = process.cwd();
const file = join(root, LIST);
const tree = readSourceTree(root);
const violations = mergePlaces([judgeFunctions, judgeFolders, judgeNames, judgeProse].flatMap((judge) => judge(tree)));
const existing = readKnown(file);

if (options.init && existing !== undefined) {
  console.error(`✗ ${LIST} is there already: it may only shrink. Mend the violation, or run with --shrink.`);
  process.exit(2);
}
if (options.init) writeKnown(file, violations);
if (options.shrink) writeKnown(file, shrink(violations, existing ?? []));

const { known, added, mended } = compare(violations, readKnown(file) ?? []);
for (const violation of added) console.log(describeAdded(violation));
for (const { rule, place } of mended) {
  console.log(
    `${rule}: ${place}\n  is mended. Remove it: the list may only shrink (npx tsx scripts/house-rules.ts --shrink).`,
  );
}
console.log(
  `house rules: ${known.length} known, ${added.length} new${mended.length > 0 ? `, ${mended.length} mended` : ''}`,
);
process.exitCode = added.length + mended.length > 0 ? 1 : 0;

function describeAdded({ rule, place, size }: Violation): string {
  const listed = existing?.find((entry) => entry.rule === rule && entry.place === place);
  const growth = listed === undefined ? '' : ` It grew from ${listed.size} to ${size}.`;
  return `${rule}: ${place}\n  ${ADVICE[rule]}.${growth}`;
}
