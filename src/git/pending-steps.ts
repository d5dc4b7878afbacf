import { oneLine } from '../kernel/text/visible.ts';

/** Where git keeps what it has still to do after a stop, of a rebase, an am, a cherry-pick or a revert. */
const STEPS = /(?:^|\/)\.git\/(?:(?:modules|worktrees)\/.+\/)?(?:rebase-merge|rebase-apply|sequencer)\/.+$/i;
const LIST = /\/(?:git-rebase-todo|todo)$/i;
/** Lines of a list that only take a commit as it is, or less of it. */
const TAKES_COMMIT = /^(?:p|pick|r|reword|e|edit|s|squash|f|fixup|d|drop|revert|noop|break|b)\b/;
const MAX_LINES = 8;
const MAX_LINE_CHARS = 200;

/**
 * Why git on the host would obey a file of its unfinished work, with the lines that it would carry out, those first that run a command;
 * null for any other path. `read` returns the text of the file, null when it is too large.
 */
export function whyPendingStep(path: string, read: (path: string) => string | null): string | null {
  if (!STEPS.test(path)) return null;
  const goesOn = 'git on the host goes on from it, as with git rebase --continue';
  if (!LIST.test(path)) return goesOn;
  const text = read(path);
  if (text === null) return `${goesOn}; its steps are too many to show`;
  const lines = text.split(/[\n\r]+/).filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  if (lines.length === 0) return `${goesOn}; no step is left`;
  const ordered = [...lines.filter((line) => !takesCommit(line)), ...lines.filter(takesCommit)];
  const shown = ordered.slice(0, MAX_LINES).map((line) => `"${oneLine(line.trim().slice(0, MAX_LINE_CHARS))}"`);
  const more = lines.length > MAX_LINES ? ` and ${lines.length - MAX_LINES} more` : '';
  return `${goesOn}, and carries out ${shown.join(', ')}${more}`;
}

function takesCommit(line: string): boolean {
  return TAKES_COMMIT.test(line.trim());
}
