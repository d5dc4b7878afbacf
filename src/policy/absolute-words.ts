import { posix } from 'node:path';
import type { AccessJudgement, ProcessRun } from './access-judgement.ts';
import { absolutePath } from './mode.ts';
import { planOfRun } from './plan-of-run.ts';

/** Other names by which the kernel gives a process its folders. */
const BY_PROCESS = /^\/proc\/(?:self|thread-self|\d+)\/(?:task\/\d+\/)?(?:cwd|root|fd)(?:\/|$)/;

/**
 * Refuses the folder of a command and words in it that name the workspace by an absolute path. Absolute paths of other places stay: what
 * is there is the system's, and many words begin with a slash and are no path.
 */
export function judgeAbsoluteWords(run: ProcessRun, root: string): readonly AccessJudgement[] {
  const { command, cwd = '.' } = run;
  const what = command.slice(0, 200);
  if (posix.isAbsolute(cwd)) return [absolutePath(what, cwd)];
  const commands = planOfRun(run).scripts.flatMap((script) => script.commands);
  const words = commands.flatMap((each) => [
    ...each.words.map(({ seen }) => seen),
    ...each.assignments.map(({ text }) => text),
  ]);
  const found = words.find((word) => namesRoot(word, root));
  return found === undefined ? [] : [absolutePath(what, found)];
}

/** In a word of its own, or behind an option, `=` or `:`. */
function namesRoot(word: string, root: string): boolean {
  const plain = word.replace(/\/(?:\.?\/)+/g, '/');
  for (let at = plain.indexOf(root); at !== -1; at = plain.indexOf(root, at + 1)) {
    const end = plain[at + root.length];
    if (end === undefined || end === '/' || /[\s:;,'"]/.test(end)) return true;
  }
  return BY_PROCESS.test(plain);
}
