import { posix } from 'node:path';
import type { AccessJudgement, ProcessRun } from './access-judgement.ts';
import { absolutePath } from './mode.ts';
import { planOfRun } from './plan-of-run.ts';

/** Other names by which the kernel gives a process its folders. */
const BY_PROCESS = /^\/proc\/(?:self|thread-self|\d+)\/(?:task\/\d+\/)?(?:cwd|root|fd)(?:\/|$)/;

/**
 * Refuses the folder of a command and words in it that name the workspace, or a folder above it, by an absolute path. Those of other places
 * stay: what is there is the system's, and many words begin with a slash and are no path.
 */
export function judgeAbsoluteWords(run: ProcessRun, root: string): readonly AccessJudgement[] {
  const { command, cwd = '.' } = run;
  const what = command.slice(0, 200);
  if (posix.isAbsolute(cwd)) return [absolutePath(what, cwd)];
  const commands = planOfRun(run).scripts.flatMap((script) => script.commands);
  const words = commands.flatMap((each) => [
    ...each.words.map(({ seen, pattern }) => (pattern ? beforePattern(seen) : seen)),
    ...each.assignments.map(({ text }) => text),
  ]);
  const found = words.find((word) => namesRoot(word, root));
  return found === undefined ? [] : [absolutePath(what, found)];
}

/** In a word of its own, or behind an option, `=` or `:`. */
function namesRoot(word: string, root: string): boolean {
  const plain = word.replace(/\/(?:\.?\/)+/g, '/');
  if (leadsToRoot(plain, root)) return true;
  for (let at = plain.indexOf(root); at !== -1; at = plain.indexOf(root, at + 1)) {
    const end = plain[at + root.length];
    if (end === undefined || end === '/' || /[\s:;,'"]/.test(end)) return true;
  }
  return BY_PROCESS.test(plain);
}

/** The folder in which the shell looks for what a pattern matches. */
function beforePattern(word: string): string {
  return word.replace(/[^/]*[*?[].*$/s, '');
}

/**
 * Whether it ends with a path that is one of the workspace when its `..` are resolved, or one of a folder above it: everything below can be
 * reached from there.
 */
function leadsToRoot(word: string, root: string): boolean {
  const [, given] = /(?:^|[=:,\s'"])(\/.*)$/s.exec(word.replace(/['"]+$/, '')) ?? [];
  if (given === undefined) return false;
  const path = posix.normalize(given).replace(/(?<=.)\/+$/, '');
  return path === '/' || root.startsWith(`${path}/`) || `${path}/`.startsWith(`${root}/`);
}
