import { makeTree, openComparison } from '../test/changes/compare-with-plain.ts';
import { generateScripts, START_TREE } from '../test/changes/generate-scripts.ts';
import { killApplies } from '../test/faults/apply-crash.ts';
import { atMost, type Benchmark, reported } from './benchmark.ts';

const KILLS = Number(process.env['STAGE_KILLS'] ?? 1000);
const SCRIPTS = Number(process.env['STAGE_SCRIPTS'] ?? 1000);
const SEED = 26;

export const benchmark: Benchmark = {
  about:
    'Generated scripts whose changes are kept against a plain run of them, and processes killed while they keep changes.',
  async run() {
    const different = await differentTrees();
    const { killed, all, problems } = await killApplies(KILLS);
    for (const problem of [...different, ...problems].slice(0, 20)) console.error(problem);
    return [
      atMost(`${SCRIPTS} generated scripts that leave another tree than a plain run`, different.length, 'scripts', 0),
      reported(`of ${KILLS} processes, killed before they had kept all changes`, killed, 'processes'),
      reported('of these workspaces, with all changes after recovery', all, 'workspaces'),
      atMost('problems: neither all nor nothing', problems.length, 'problems', 0),
    ];
  },
};

async function differentTrees(): Promise<string[]> {
  await using comparison = await openComparison((root) => makeTree(root, START_TREE));
  const different: string[] = [];
  for (const [index, script] of generateScripts(SCRIPTS, SEED).entries()) {
    const [first] = await comparison.differences(script);
    if (first !== undefined) different.push(`script ${index} of seed ${SEED}: ${first}`);
  }
  return different;
}
