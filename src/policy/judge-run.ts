import { posix } from 'node:path';
import type { Subject } from '../kernel/ports.ts';
import type { Access } from '../kernel/tool/access.ts';
import { isHarmlessVariable, isObeyedVariable } from '../kernel/world/environment.ts';
import { type FilePolicy, isDisputed } from '../kernel/world/file-policy.ts';
import type { CommandUse } from '../shell/command-plan.ts';
import { type AccessJudgement, type JudgedAccess, type ProcessRun, strictest } from './access-judgement.ts';
import { judgeUnagreed } from './agreement/judge-unagreed.ts';
import {
  ASSIGNMENT,
  BY_CHANGES,
  type CommandJudgement,
  type CommandPart,
  ENVIRONMENT,
  NETWORK,
  NOT_UNDERSTOOD,
} from './commands/command-judgement.ts';
import { isInert } from './commands/inert-programs.ts';
import { judgeCommand } from './commands/judge-command.ts';
import { applyMode, type Mode } from './mode.ts';
import { planOfRun } from './plan-of-run.ts';
import type { CommandEffects, PolicyOptions } from './policy-options.ts';
import { createRuleLookup } from './rules/find-rule.ts';
import { isExactRule, type Rule } from './rules/rule.ts';

/** The rules behind questions about a process that goes on, and about a live run where nothing stages. */
export const BACKGROUND = 'background';
export const WRITES_FILES = 'writes files';

/**
 * Judges a command by its words, before it starts. With a stage only these need approval: the network, effects outside the
 * workspace, a process in the background, and ask rules. Its changes are judged afterwards, by `judgeChanges`.
 */
export function judgeRun(access: ProcessRun, subject: Subject, options: PolicyOptions): JudgedAccess {
  const { mode, effects = 'staged' } = options;
  const about = rulesAbout(subject.tool, options.rules);
  const judgement = judgeWords(access, subject, { ...options, rules: about });
  if (access.code !== undefined) return judgeCode(access, judgement, { ...options, tool: subject.tool });
  const isRestricted = about.some(({ verdict }) => verdict !== 'allow');
  const cover = effects === 'live' && planOfRun(access).uses.some(isComputed) ? undefined : coverOf(judgement, access);
  const words = judgement.parts.map((part) => judgePart(part, { mode, isRestricted }));
  const parts = [
    ...words,
    ...(mode === 'strict' ? refuseVariables(access) : isRestricted ? judgeVariables(access) : []),
    ...judgeMounts(access, { mode, effects, isCovered: cover !== undefined }),
    ...(mode === 'strict' ? judgeUnagreed(access, judgement.parts, subject) : []),
  ].map((part) => applyMode(mode, part));
  const uncovered = parts.some(({ verdict }) => verdict !== 'allow') ? [] : judgeBeside(judgement, { mode, cover });
  const all = [...parts, ...uncovered.map((part) => applyMode(mode, part))];
  const verdict = strictest(all)?.verdict ?? 'allow';
  const isLifted = verdict === 'ask' || mode === 'auto' || cover !== undefined;
  const network = mayReachNetwork(judgement, { mode, isLifted });
  const granted: Access = { ...access, writes: grantedWrites(access, { mode, effects, isLifted }) };
  const byRule = verdict === 'allow' ? cover : undefined;
  return {
    access: network ? { ...granted, network: true } : granted,
    parts: all,
    ...(byRule !== undefined && { byRule }),
    ...(judgement.parts.some(({ isOutside }) => isOutside) && { isOutside: true }),
  };
}

function judgeWords(access: ProcessRun, subject: Subject, options: PolicyOptions) {
  const root = subject.context.workingDir;
  const { home, commandFiles = options.files, effects = 'staged' } = options;
  const masked = effects !== 'live';
  const files = masked ? exceptDisputedNames(commandFiles) : commandFiles;
  const place = { root, home, files, cwd: posix.resolve(root, access.cwd ?? '.'), masked };
  return judgeCommand(planOfRun(access), place, createRuleLookup(options.rules));
}

/** Where files are masked, the sandbox has looked at what has such a name. */
function exceptDisputedNames(files: FilePolicy): FilePolicy {
  return {
    ...files,
    judge(path, kind) {
      const verdict = files.judge(path, kind);
      return isDisputed(verdict) ? { access: 'writable', rule: null } : verdict;
    },
  };
}

/** The tool's own rules, and the ask and deny rules of other tools about commands: it is the same shell, whichever tool starts it. */
function rulesAbout(tool: string, rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(
    (rule) => rule.tool === tool || (rule.verdict !== 'allow' && !rule.whole && isAboutCommands(rule)),
  );
}

function isAboutCommands({ patterns, hosts, text }: Rule): boolean {
  if (patterns !== undefined) return patterns === 'commands' || patterns === 'code';
  // The tool does not say what its patterns mean: several words are a command, and so is one word that is no glob.
  return hosts === null && (/\s/.test(text) || !/[*/]/.test(text));
}

/**
 * Returns one of the user's rules, one with a wildcard if there is any, when these cover the whole command: each part is allowed by one or has no effect of its
 * own, and nothing changes what the words mean.
 */
function coverOf({ parts }: CommandJudgement, { env = [], riskyEnv = [] }: ProcessRun): string | undefined {
  if (!parts.every(isCovered) || riskyEnv.length > 0 || !env.every((name) => isHarmlessVariable(name)))
    return undefined;
  const rules = parts.flatMap(({ allowedBy, rule }) => (allowedBy === 'user' ? [rule] : []));
  return rules.find((rule) => !isExactRule(rule)) ?? rules[0];
}

/** Whether a variable decides what it does, which nothing takes back where it runs live. */
function isComputed({ name, words, args }: CommandUse): boolean {
  if (name === null) return words.length > 0;
  return !/^(?:echo|printf|test|\[|\[\[)$/.test(name) && args.some(({ value, home }) => value === null && !home);
}

function isCovered({ verdict, rule, program, allowedBy }: CommandPart): boolean {
  return (
    verdict === 'allow' && (allowedBy === 'user' || rule === ASSIGNMENT || (rule === BY_CHANGES && isInert(program)))
  );
}

/** Judges one simple command under a mode. `isRestricted`: there are ask or deny rules that it might hide from. */
function judgePart(part: CommandPart, { mode, isRestricted }: { mode: Mode; isRestricted: boolean }): AccessJudgement {
  const { text, verdict, rule, reason, details, program, isOutside, loses } = part;
  const judged = { what: text, verdict, rule, reason, liftable: false, changes: false, ...(details && { details }) };
  if (mode === 'strict' && rule === BY_CHANGES)
    return {
      ...judged,
      verdict: 'ask',
      rule: 'not listed',
      reason: `${program ?? 'It'} is not on the list of allowed commands.`,
    };
  if (verdict !== 'ask') return judged;
  // Without network and outside of nothing it can do no harm: it fails.
  if (isOutside) return mode === 'plan' ? staged(judged) : { ...judged, liftable: loses === undefined };
  const isUnknown = rule === NOT_UNDERSTOOD;
  const matters = isUnknown ? isRestricted : rule !== ENVIRONMENT;
  return matters || mode === 'strict' ? judged : staged(judged);
}

function staged(judged: AccessJudgement): AccessJudgement {
  return { ...judged, verdict: 'allow', rule: BY_CHANGES, reason: 'Its changes are judged before they are kept.' };
}

/** Only harmless variables pass in mode strict: nobody can list all those that some program obeys. */
function refuseVariables({ env = [], riskyEnv = [] }: ProcessRun): AccessJudgement[] {
  return env
    .filter((name) => !isHarmlessVariable(name) || riskyEnv.includes(name))
    .map((name) =>
      askAboutVariable(
        name,
        isHarmlessVariable(name)
          ? `The value of ${name} has signs that a program may run: write it without $ \` ; & | < > and \\.`
          : `The variable ${name} is not on the list of harmless variables (CI, NODE_ENV, LANG, TZ, PORT, DEBUG, …), so it may decide what runs. Leave it out.`,
      ),
    );
}

/** Judges variables, which are beside the command line and may change what it runs. */
function judgeVariables({ env = [], riskyEnv = [] }: ProcessRun): AccessJudgement[] {
  return env
    .filter((name) => riskyEnv.includes(name) || (isObeyedVariable(name) && !isHarmlessVariable(name)))
    .map((name) => askAboutVariable(name, `The variable ${name} may change what runs, whatever the rules say.`));
}

function askAboutVariable(name: string, reason: string): AccessJudgement {
  return { what: `${name}=…`, verdict: 'ask', rule: ENVIRONMENT, reason, liftable: false, changes: false };
}

const IN_BACKGROUND = {
  staged: 'It keeps running in the background.',
  'read-first': 'It keeps running in the background, and writes to the real files.',
};

interface MountsQuestion {
  readonly mode: Mode;
  readonly effects: CommandEffects;
  /** Rules of the user cover the whole command. */
  readonly isCovered: boolean;
}

/** Judges where it runs: in the background, or live where nothing stages its changes. */
function judgeMounts(
  { command, writes }: ProcessRun,
  { mode, effects, isCovered }: MountsQuestion,
): readonly AccessJudgement[] {
  // In mode `strict` the list decides, and in mode `plan` no rule helps: what runs there must be discarded.
  if (mode === 'strict' || (isCovered && mode !== 'plan')) return [];
  const asks = { what: command, verdict: 'ask', changes: true } as const;
  if (effects === 'live')
    return [{ ...asks, rule: 'not contained', reason: 'There is no sandbox to contain it.', liftable: false }];
  if (writes === 'background') return [{ ...asks, rule: BACKGROUND, reason: IN_BACKGROUND[effects], liftable: true }];
  if (effects === 'staged' || writes !== 'workspace') return [];
  const reason = 'It wants to write files, and nothing here can show its changes before they are made.';
  return [{ ...asks, rule: WRITES_FILES, reason, liftable: true }];
}

/**
 * Asks about parts that no rule covers and that would run with the network which a rule gives to another part: all parts of a
 * command share it.
 */
function judgeBeside(
  { parts }: CommandJudgement,
  { mode, cover }: { mode: Mode; cover: string | undefined },
): readonly AccessJudgement[] {
  const allowed = parts.find(({ isOutside, verdict }) => isOutside && verdict === 'allow');
  if (allowed === undefined || cover !== undefined || mode === 'plan' || mode === 'strict') return [];
  return parts
    .filter((part) => !isCovered(part))
    .map(({ text }) => ({
      what: text,
      verdict: 'ask',
      rule: NETWORK,
      reason: `It would run with the network that ${allowed.rule} allows for another part of the command.`,
      liftable: true,
      changes: false,
    }));
}

function mayReachNetwork({ parts }: CommandJudgement, { mode, isLifted }: { mode: Mode; isLifted: boolean }): boolean {
  if (mode === 'plan') return false;
  return isLifted || (mode === 'strict' && parts.some(({ isOutside }) => isOutside));
}

/** The kind of run that the platform has. `isLifted`: a rule, the mode or a yes allows more than reading. */
function grantedWrites(
  { writes }: ProcessRun,
  { mode, effects, isLifted }: { mode: Mode; effects: CommandEffects; isLifted: boolean },
): ProcessRun['writes'] {
  if (writes === 'nothing') return writes;
  if (writes === 'background') return effects === 'staged' ? writes : 'workspace';
  if (effects === 'staged') return 'stage';
  if (effects === 'live' || writes === 'workspace') return 'workspace';
  return isLifted || mode === 'strict' ? 'workspace' : 'nothing';
}

/**
 * Judges code. It needs no approval where its changes are judged, unless a rule for the tool as a whole says otherwise. Bash
 * code is still refused what no command may do, and meets the ask and deny rules about commands.
 */
function judgeCode(
  access: ProcessRun,
  { parts }: CommandJudgement,
  { tool, rules, mode, effects = 'staged' }: PolicyOptions & { tool: string },
): JudgedAccess {
  const texts = new Set(rules.map(({ text }) => text));
  const held = parts.filter(({ verdict, rule }) => verdict === 'deny' || (verdict === 'ask' && texts.has(rule)));
  const whole = rules.find((rule) => rule.tool === tool && rule.whole);
  const own = judgeWholeCode(access, whole, { tool, mode, effects });
  const first = [...held.map((part) => judgePart(part, { mode, isRestricted: true })), ...own];
  const all = first.map((part) => applyMode(mode, part));
  const verdict = strictest(all)?.verdict;
  const byRule = verdict === 'allow' && whole?.verdict === 'allow' ? whole.text : undefined;
  const isLifted = verdict === 'ask' || mode === 'auto' || byRule !== undefined;
  return {
    access: { ...access, writes: grantedWrites(access, { mode, effects, isLifted }) },
    parts: all,
    ...(byRule !== undefined && { byRule }),
    ...(access.network && { isOutside: true }),
  };
}

/** Judges code by the rule for its tool as a whole, by the mode, and by where it runs. */
function judgeWholeCode(
  access: ProcessRun,
  whole: Rule | undefined,
  { tool, mode, effects }: { tool: string; mode: Mode; effects: CommandEffects },
): readonly AccessJudgement[] {
  const isInBackground = access.writes === 'background';
  const isLive = effects === 'live' || (effects === 'read-first' && access.writes === 'workspace');
  const judged = { what: `${access.code} code`, liftable: false, changes: isInBackground || isLive };
  if (whole !== undefined)
    return [{ ...judged, verdict: whole.verdict, rule: whole.text, reason: `The rule ${whole.text} says so.` }];
  if (mode === 'strict')
    return [{ ...judged, verdict: 'ask', rule: 'not listed', reason: `${tool} is not on the list of allowed tools.` }];
  const isAsked = effects === 'live' || !isInBackground;
  const asked = isAsked ? judgeMounts(access, { mode, effects, isCovered: false }) : [];
  if (asked.length > 0) return asked.map((part) => ({ ...part, what: judged.what }));
  return [staged({ ...judged, verdict: 'allow', rule: BY_CHANGES, reason: '' })];
}
