import type { CommandPlan, CommandUse } from '../../shell/command-plan.ts';
import { type InsideReading, MAX_INSIDE_READINGS, readInside, readText } from '../../shell/inside-readings.ts';
import { apparentProgram } from '../../shell/program-name.ts';
import { type Surroundings, targetsOf } from '../../shell/resolve-path.ts';
import { riskyAssignment } from '../../shell/risky-environment.ts';
import { operandsAmong, plainWord } from '../../shell/words.ts';
import { knownWords } from '../rules/word-pattern.ts';
import {
  ASSIGNMENT,
  ask,
  BY_CHANGES,
  type CommandJudgement,
  type CommandPart,
  notUnderstood,
  type RuleAnswer,
  type RuleLookup,
  type Ruling,
  refuse,
  SENSITIVE,
} from './command-judgement.ts';
import { judgeInside } from './judge-inside.ts';
import { judgeProgram, type ProgramJudgement } from './judge-program.ts';
import { judgeRedirection } from './judge-redirection.ts';
import { isOrdinaryUse } from './ordinary-use.ts';
import { losesOutside } from './outside-losses.ts';
import { catastrophe, catastrophicScript, isDestroyer } from './refusals/catastrophes.ts';

const NO_COMMAND: Ruling = { verdict: 'allow', rule: BY_CHANGES, reason: 'There is no command in it.' };
const NO_RULES: RuleLookup = { find: () => undefined, restricts: () => false };
/** Folders outside the workspace that a script goes to. */
const MAX_FOLDERS = 4;
/** Words that are compared with the names of secrets: what further ones name is masked where a command runs. */
const MAX_NAMES = 2000;

/** Where words inside a command stand. */
interface InsideUse {
  /** The program with these words in it, `here` for the shell itself, `mentioned` for words that nothing visibly starts. */
  readonly by: string;
  /** A rule for the program answers for what it may start, but for what nothing takes back. */
  readonly isAllowed?: boolean;
}

const HERE: InsideUse = { by: 'here' };

/** A ruling with what else is known of the part. */
type PartRuling = Omit<CommandPart, 'text' | 'program'>;

/**
 * Judges every command of a plan by its words: refusals, rules, secrets that it names and effects outside the workspace.
 * An allow rule counts in a plain script alone. Refusals, ask and deny rules count for every command that the script names anywhere, also
 * for words inside another command. A part that cannot be known before it runs is a question; the caller knows whether it matters.
 */
export function judgeCommand(plan: CommandPlan, where: Surroundings, rules: RuleLookup = NO_RULES): CommandJudgement {
  const { source } = plan;
  const parts: CommandPart[] = [];
  /** A part that is repeated is told once. */
  const said = new Set<string>();
  let [inside, names] = [0, 0];
  const folders = [where.cwd ?? where.root];
  const isWanted = (program: string) => isDestroyer(program) || losesOutside(program) || rules.restricts(program);
  for (const script of plan.scripts) {
    const danger = catastrophicScript(script, plan, where);
    if (danger !== undefined) add(source, null, refuse(danger));
  }
  for (const { text, reason } of plan.why) add(text, null, notUnderstood(`It cannot be judged: ${reason}.`));
  for (const use of plan.uses) judgeUse(use);
  for (const text of plan.unread) addInside(text, readText(text, isWanted), HERE);
  // Read once more as a text: a grammar can be led astray, and words cannot.
  if (!plan.isPlain) addInside(source, readText(source, rules.restricts), { by: 'mentioned' });
  if (parts.length === 0) add(source, null, NO_COMMAND);
  const { verdict, reason, rule } = worstOf(parts);
  return { verdict, reason, rule, parts };

  function add(text: string, program: string | null, ruling: PartRuling): void {
    const key = `${text}\0${ruling.reason}`;
    if (ruling.verdict !== 'allow' && said.has(key)) return;
    said.add(key);
    parts.push({ text, program, ...ruling });
  }

  function judgeUse(use: CommandUse): void {
    const { text, words, redirections, assignments } = use;
    for (const redirection of redirections.slice(0, room(redirections.length)))
      for (const ruling of judgeRedirection(redirection, folders, where)) add(text, null, ruling);
    for (const assignment of assignments) {
      const risk = riskyAssignment(assignment, words.length > 0);
      if (risk !== undefined) add(text, null, ask(risk.rule, risk.reason));
      addInside(text, readText(assignment.text.slice(assignment.name.length + 1), isWanted), HERE);
    }
    if (words.length > 0) judgeWords(use);
    else if (redirections.length === 0 && assignments.length > 0)
      add(text, null, { verdict: 'allow', rule: ASSIGNMENT, reason: 'It sets a variable.' });
  }

  function judgeWords({ text, name, args, input, isOpened, isWrapper }: CommandUse): void {
    const ruled = rules.find(knownWords(name, args));
    if (name === null) {
      addInside(text, readText(args.map((word) => word.text).join(' '), isWanted), HERE);
      add(text, null, ruled ?? notUnderstood('Which program runs is known only at run time.'));
      return;
    }
    const danger = catastrophe({ name: apparentProgram(name) ?? name, args }, folders, where);
    if (danger !== undefined) add(text, name, refuse(danger));
    if (ruled?.verdict === 'deny') add(text, name, ruled);
    if (danger !== undefined || ruled?.verdict === 'deny') return;
    const isAllowed = ruled?.verdict === 'allow' && plan.isPlain;
    if (!isOpened) addInside(text, readInside({ name, args, input }, isWanted), { by: name, isAllowed });
    if (!isWrapper) add(text, name, judgeAlone({ name, args }, ruled));
    else if (ruled?.verdict === 'ask') add(text, name, ruled);
    if (name === 'cd' || name === 'pushd') follow(operandsAmong(args)[0] ?? plainWord(where.home));
  }

  function addInside(text: string, readings: readonly InsideReading[], { by, isAllowed = false }: InsideUse): void {
    inside += readings.length;
    if (inside > MAX_INSIDE_READINGS)
      add(text, null, notUnderstood('It can be read in more ways than can be checked.'));
    for (const reading of readings.slice(0, MAX_INSIDE_READINGS))
      for (const { program, ...part } of judgeInside(reading, by, {
        folders: by === 'chroot' ? ['/'] : folders,
        where,
        rules,
      }))
        if (!isAllowed || !part.isOutside || part.loses !== undefined) add(text, program, part);
  }

  /**
   * Judges a command without the commands that it runs: by itself, then by the rules. A rule can answer a question, but
   * never lifts a refusal; an irreversible loss needs a rule that names the word causing it.
   */
  function judgeAlone(
    use: Pick<CommandUse, 'args'> & { readonly name: string },
    ruled: RuleAnswer | undefined,
  ): PartRuling {
    const known = judgeProgram(use, room(use.args.length) < use.args.length ? [] : folders, where);
    if (ruled === undefined || known.verdict === 'deny') return known;
    if (ruled.verdict !== 'allow') return byRule(ruled, known);
    const isMeant = known.loses === undefined || ruled.names?.(known.loses) === true;
    const counts = plan.isPlain ? !ruled.ordinary || isOrdinaryUse(use.name, use.args) : ruled.whole === true;
    return counts && isMeant ? byRule(ruled, known) : known;
  }

  /** How many of the next names can still be checked. */
  function room(count: number): number {
    names += count;
    if (names > MAX_NAMES) add(source, null, notUnderstood('It has more words than can be checked.'));
    return Math.max(0, Math.min(count, MAX_NAMES - names + count));
  }

  /** Later words may be meant from there. Where it stays in the workspace, nothing changes that is judged by words. */
  function follow(target: Parameters<typeof targetsOf>[0]): void {
    const [place] = targetsOf(target, [where.cwd ?? where.root], where);
    if (place?.kind === 'outside' && folders.length < MAX_FOLDERS) folders.push(place.path);
  }
}

/** The ruling of a rule about a command, with what is known of the command besides. */
function byRule({ verdict, rule, reason, ordinary }: RuleAnswer, { isOutside }: ProgramJudgement): PartRuling {
  if (verdict !== 'allow') return { verdict, rule, reason };
  return { verdict, rule, reason, allowedBy: ordinary ? 'list' : 'user', ...(isOutside && { isOutside }) };
}

function worstOf(parts: readonly CommandPart[]): CommandPart {
  const by = (answer: CommandPart['verdict']) => parts.find(({ verdict }) => verdict === answer);
  // A word may be no path: any other reason says more.
  const refusal = parts.find(({ verdict, rule }) => verdict === 'deny' && rule !== SENSITIVE);
  return refusal ?? by('deny') ?? by('ask') ?? (parts[0] as CommandPart);
}
