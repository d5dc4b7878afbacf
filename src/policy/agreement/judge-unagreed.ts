import { posix } from 'node:path';
import type { Subject } from '../../kernel/ports.ts';
import { oneLine } from '../../kernel/text/visible.ts';
import { obeysFile, onlyReads, runsScripts } from '../../kernel/world/project-files.ts';
import { NOTHING_UNAGREED, type UnagreedTexts } from '../../kernel/world/unagreed-texts.ts';
import { type CommandPlan, readCommandPlan } from '../../shell/command-plan.ts';
import { programName } from '../../shell/program-name.ts';
import type { AccessJudgement, ProcessRun } from '../access-judgement.ts';
import type { CommandPart } from '../commands/command-judgement.ts';
import { planOfRun } from '../plan-of-run.ts';
import { programsComputedBy } from './computed-words.ts';
import { filesNamedBy } from './named-files.ts';

/** The rule behind a refusal of mode strict: the command would run a text that nobody has agreed to. */
const NOT_AGREED = 'not agreed';
const MAX_NAMED = 3;

/**
 * Refuses the listed commands that obey a text of the agent to which nobody has agreed: a file that the program takes commands from,
 * wherever in the workspace it is, or one that the command or a script of the project names. So no way to another folder matters.
 */
export function judgeUnagreed(
  run: ProcessRun,
  parts: readonly CommandPart[],
  { unagreed = NOTHING_UNAGREED, context }: Subject,
): readonly AccessJudgement[] {
  const { files, folders } = unagreed;
  if (files.length === 0 && folders.length === 0) return [];
  const programs = new Set(parts.flatMap(({ program }) => (program === null ? [] : [programName(program)])));
  const running = [...programs].filter((program) => !onlyReads(program));
  const root = context.workingDir;
  const folder = posix.relative(root, posix.resolve(root, run.cwd ?? '.'));
  const named = running.length === 0 ? [] : filesRunBy(planOfRun(run), folder, unagreed);
  const scripted = running.some(runsScripts) ? scriptFiles(unagreed) : [];
  return running.flatMap((program) => {
    const obeyed = files.filter((path) => obeysFile(program, path));
    const paths = [...new Set([...named, ...folders, ...obeyed, ...(runsScripts(program) ? scripted : [])])];
    return paths.length === 0 ? [] : [refusal(program, paths)];
  });
}

/** The files that scripts of the project name. */
function scriptFiles(unagreed: UnagreedTexts): readonly string[] {
  return unagreed.scripts.flatMap(({ path, text }) => filesRunBy(readCommandPlan(text), posix.dirname(path), unagreed));
}

/** Files that a script names, and programs that it may name by words which are known only at run time. */
function filesRunBy(plan: CommandPlan, folder: string, { files, programs }: UnagreedTexts): readonly string[] {
  return [...files.filter(filesNamedBy(plan, folder)), ...programs.filter(programsComputedBy(plan, folder))];
}

function refusal(program: string, paths: readonly string[]): AccessJudgement {
  const [first = '', ...more] = paths;
  const shown = paths.slice(0, MAX_NAMED).map(oneLine).join(', ');
  const others = paths.length > MAX_NAMED ? ` and ${paths.length - MAX_NAMED} more` : '';
  const them = more.length === 0 ? 'it' : 'them';
  const reason = `${program} would run what ${shown}${others} says: a call wrote ${them} in this workspace, and nobody has agreed to the text. In mode strict a listed command runs only what was there before. A person agrees to a text by approving the diff of it in mode ask, or by a decision about its path: ${oneLine(first)}.`;
  return { what: program, verdict: 'deny', rule: NOT_AGREED, reason, liftable: false, changes: false, byMode: true };
}
