import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { atMost, type Benchmark, reported } from './benchmark.ts';
import type { ChangeListsReport } from './programs/change-lists.run.ts';

const PROGRAM = join(import.meta.dirname, 'programs', 'change-lists.run.ts');
/** Some kilobytes for each entry, whatever is done with the list. */
const MAX_MEGABYTES = 1_000;

export const benchmark: Benchmark = {
  about:
    'One command that changes nearly 200,000 paths, the most it may: its list shown, kept and undone, and its memory.',
  async run() {
    const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', PROGRAM]);
    const report: ChangeListsReport = JSON.parse(stdout);
    for (const problem of report.problems) console.error(problem);
    return [
      reported('changed entries, all of them told', report.entries, 'entries'),
      reported('of them in the list that a person sees', report.items, 'items'),
      reported('the command, with its list and keeping it', report.changeSeconds, 's'),
      reported('undoing it', report.undoSeconds, 's'),
      atMost('memory beyond that of the process before', report.megabytes, 'MB', MAX_MEGABYTES),
      atMost('problems: not told, kept or undone exactly', report.problems.length, 'problems', 0),
    ];
  },
};
