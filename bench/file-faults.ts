import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crashOnce } from '../test/faults/crash.ts';
import { linkRaces, outsideEditor } from '../test/faults/races.ts';
import { atMost, type Benchmark, reported } from './benchmark.ts';

const KILLS = 1000;
const ROUNDS = 2000;

export const benchmark: Benchmark = {
  about:
    'Processes killed while they change files, links swapped below calls, an editor that replaces files meanwhile.',
  async run() {
    const { escapes, rounds, succeeded } = await linkRaces(ROUNDS);
    const editor = await outsideEditor(ROUNDS);
    const torn = await kills();
    return [
      atMost(`escapes in ${rounds} rounds of swapped links`, escapes.length, 'escapes', 0),
      reported('calls that succeeded in them', succeeded, 'calls'),
      reported(`changes of an editor hidden by ${editor.written} writes at the same moment`, editor.hidden, 'changes'),
      atMost(`torn files and leftovers after ${KILLS} kills`, torn.length, 'problems', 0),
    ];
  },
};

async function kills(): Promise<string[]> {
  const top = mkdtempSync(join(tmpdir(), 'bench-kills-'));
  const problems: string[] = [];
  const lane = async (name: string) => {
    for (let round = 0; round < KILLS / 2; round++) {
      problems.push(...(await crashOnce(join(top, name), 1 + ((round * 7919) % 83))));
    }
  };
  await Promise.all([lane('a'), lane('b')]);
  rmSync(top, { recursive: true, force: true });
  for (const problem of problems) console.error(problem);
  return problems;
}
