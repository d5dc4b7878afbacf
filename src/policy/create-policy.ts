import { posix } from 'node:path';
import type { Policy, RealPath, Subject, Verdict } from '../kernel/ports.ts';
import type { Access } from '../kernel/tool/access.ts';
import { isHarmlessVariable, isObeyedVariable } from '../kernel/world/environment.ts';
import type { FilePolicy } from '../kernel/world/file-policy.ts';
import type { UrlJudge } from '../kernel/world/web.ts';
import { askBesideWrites, BESIDE_WRITES } from './commands/beside-writes.ts';
import { type CommandJudgement, type CommandPart, READ_ONLY } from './commands/command-judgement.ts';
import { judgeCommand } from './commands/judge-command.ts';
import { type AccessJudgement, judgeFile } from './judge-file.ts';
import { grantedRedirects, judgeSearch, judgeUrl } from './judge-web.ts';
import { createRuleLookup } from './rules/find-rule.ts';
import type { Rule } from './rules/rule.ts';

export interface PolicyOptions {
  readonly mode: Mode;
  readonly rules: readonly Rule[];
  readonly files: FilePolicy;
  /** The user's home folder, which no command may touch. */
  readonly home: string;
  /** Whether a sandbox contains the commands that run. Left out: yes. */
  readonly contained?: boolean;
  /** Says which URLs are never fetched and which hosts are allowed; comes from `createWeb`. */
  readonly urls?: UrlJudge;
}

/** A verdict with everything that led to it, for a person who asks why. */
export interface Explanation extends Verdict {
  readonly mode: Mode;
  /** One for each thing the call touches; commands have one for each simple command in them. */
  readonly parts: readonly {
    readonly what: string;
    readonly verdict: Verdict['verdict'];
    readonly rule: string;
    readonly reason: string;
  }[];
}

export interface ExplainingPolicy extends Policy {
  decide(subject: Subject): Verdict;
  explain(subject: Subject): Explanation;
  wantsPlaces(tool: string): boolean;
}

/** Combines rules, mode and built-in limits into one decision. Pure: it knows names, never the disk. */
export function createPolicy(options: PolicyOptions): ExplainingPolicy {
  const ruled = new Set(options.rules.filter(({ whole }) => !whole).map(({ tool }) => tool));
  return {
    decide: (subject) => explain(subject, options),
    explain: (subject) => explain(subject, options),
    wantsPlaces: (tool) => ruled.has(tool),
  };
}

function explain(subject: Subject, options: PolicyOptions): Explanation {
  const { mode } = options;
  const judged = subject.access.map((access) => judgeAccess(access, subject, options));
  const objections = judged.flatMap(({ parts }) => parts);
  const own = judgeOwnQuestion(subject, objections, options);
  const parts = own === undefined ? objections : [...objections, own];
  const worst = strictest(parts) ?? {
    what: subject.tool,
    verdict: 'allow',
    rule: 'touches nothing',
    reason: 'It accesses nothing.',
  };
  const { verdict, rule, reason } = worst;
  return { verdict, rule, reason, mode, parts, access: judged.map(({ access }) => access) };
}

interface JudgedAccess {
  readonly access: Access;
  readonly parts: readonly AccessJudgement[];
}

function judgeAccess(access: Access, subject: Subject, options: PolicyOptions): JudgedAccess {
  const { rules, mode, files, contained = true } = options;
  const own = rules.filter(({ tool }) => tool === subject.tool);
  switch (access.kind) {
    case 'fs.read':
    case 'fs.write':
    case 'fs.delete':
      return { access, parts: [applyMode(mode, judgeFile(access, own, files, placeOf(access, subject)))] };
    case 'net.fetch':
      return {
        access: { ...access, redirects: grantedRedirects(own, options.urls) },
        parts: [applyMode(mode, judgeUrl(access, own, options.urls))],
      };
    case 'net.search':
      return { access, parts: [applyMode(mode, judgeSearch(access, own))] };
    case 'process.run': {
      const judgement = judgeRun(access, subject, options);
      if (access.code !== undefined) return { access, parts: judgeCode(access.code, judgement, subject, options) };
      const parts = [
        ...askBesideWrites(judgement).map((part) => toAccessJudgement(requireListed(part, mode))),
        ...judgeSurroundings(access, judgement, { own, mode }),
      ].map((part) => applyMode(mode, contained ? part : { ...part, liftable: false }));
      return { access: judgement.readOnly ? { ...access, writes: 'nothing' } : access, parts };
    }
    case 'unknown': {
      const about = { what: subject.tool, liftable: false, changes: true };
      const whole = own.find((rule) => rule.whole);
      const part: AccessJudgement =
        whole === undefined
          ? {
              ...about,
              verdict: 'ask',
              rule: 'unknown access',
              reason: `${subject.tool} does not declare what it accesses.`,
            }
          : { ...about, verdict: whole.verdict, rule: whole.text, reason: `The rule ${whole.text} says so.` };
      return { access, parts: [applyMode(mode, part)] };
    }
  }
}

function placeOf(access: Access, { context, places }: Subject): { root: string; real?: RealPath } {
  const real = places?.get(access);
  return { root: context.workingDir, ...(real && { real }) };
}

type ProcessRun = Extract<Access, { kind: 'process.run' }>;

function judgeRun(
  { command, cwd = '.', code }: ProcessRun,
  subject: Subject,
  { rules, files, home, contained = true }: PolicyOptions,
): CommandJudgement {
  const root = subject.context.workingDir;
  const source = code === undefined || code === 'bash' ? command : '';
  const place = { root, home, files, cwd: posix.resolve(root, cwd), masked: contained };
  return judgeCommand(source, place, createRuleLookup(rulesAbout(subject.tool, rules)));
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
 * Judges code. It needs no approval, since the sandbox contains it, unless a rule for the tool as a whole says otherwise.
 * Bash code is still refused what no command may do, and meets the ask and deny rules about commands.
 */
function judgeCode(
  language: string,
  { parts }: CommandJudgement,
  { tool }: Subject,
  { rules, mode, contained: containedBySandbox = true }: PolicyOptions,
): readonly AccessJudgement[] {
  const texts = new Set(rules.map(({ text }) => text));
  const held = parts.filter(({ verdict, rule }) => verdict === 'deny' || (verdict === 'ask' && texts.has(rule)));
  const whole = rules.find((rule) => rule.tool === tool && rule.whole);
  const about = { what: `${language} code`, liftable: true, changes: true };
  const contained: AccessJudgement =
    whole !== undefined
      ? { ...about, verdict: whole.verdict, rule: whole.text, reason: `The rule ${whole.text} says so.` }
      : mode === 'strict'
        ? { ...about, verdict: 'ask', rule: 'not listed', reason: `${tool} is not on the list of allowed tools.` }
        : containedBySandbox
          ? { ...about, verdict: 'allow', rule: 'contained', reason: 'The sandbox contains it.' }
          : {
              ...about,
              liftable: false,
              verdict: 'ask',
              rule: 'not contained',
              reason: 'There is no sandbox to contain it.',
            };
  return [...held.map(toAccessJudgement), contained].map((part) => applyMode(mode, part));
}

/** In mode `strict` a command that only reads must be on the list as well. */
function requireListed(part: CommandPart, mode: Mode): CommandPart {
  if (mode !== 'strict' || part.rule !== READ_ONLY || part.program === null) return part;
  return {
    ...part,
    verdict: 'ask',
    rule: 'not listed',
    reason: `${part.program} is not on the list of allowed commands.`,
  };
}

/** The judgement of a command's part. Mode `auto` approves it only for these rules: a part that was not understood still needs a person. */
function toAccessJudgement({ text, verdict, rule, reason }: CommandPart): AccessJudgement {
  return {
    what: text,
    verdict,
    rule,
    reason,
    liftable: ['not read-only', 'redirection', 'environment', BESIDE_WRITES].includes(rule),
    changes: rule !== READ_ONLY,
  };
}

/** Judges influences outside the command line: variables, and scripts of the project that no person has seen. */
function judgeSurroundings(
  { env = [], unfamiliar, exposes }: ProcessRun,
  { readOnly }: CommandJudgement,
  { own, mode }: { own: readonly Rule[]; mode: Mode },
): AccessJudgement[] {
  const asks = { verdict: 'ask', changes: true } as const;
  const variables: AccessJudgement[] = env
    .filter((name) => !isHarmlessVariable(name))
    .map((name) => ({
      ...asks,
      what: `${name}=…`,
      rule: 'environment',
      reason: `The variable ${name} may change what runs.`,
      liftable: !isObeyedVariable(name),
    }));
  if (exposes !== undefined) {
    const reason = `It may print ${exposes} from the repository, unmasked.`;
    variables.push({ ...asks, what: exposes, rule: 'sensitive file', reason, liftable: false, changes: false });
  }
  // A rule about words cannot know the text of a script. In mode `strict` the list decides, and nobody is asked.
  const vouched = readOnly || mode === 'strict' || own.some(({ whole, verdict }) => whole && verdict === 'allow');
  if (unfamiliar === undefined || vouched) return variables;
  const { path, reason } = unfamiliar;
  return [...variables, { ...asks, what: path, rule: 'unfamiliar script', reason, liftable: true }];
}

/** The question of a tool that asks by itself. Unless it asks always, mode `auto` and allow rules for all that it touches answer it. */
function judgeOwnQuestion(
  subject: Subject,
  about: readonly AccessJudgement[],
  { rules, mode }: PolicyOptions,
): AccessJudgement | undefined {
  const { ownReason, asksAlways, tool } = subject;
  if (ownReason === undefined) return undefined;
  const asks: AccessJudgement = {
    what: tool,
    verdict: 'ask',
    rule: "the tool's own",
    reason: ownReason,
    liftable: !asksAlways,
    changes: true,
  };
  if (asksAlways) return mode === 'plan' ? applyMode(mode, asks) : asks;
  const allowing = rules.filter((rule) => rule.tool === tool && rule.verdict === 'allow');
  const byRule = ({ verdict, rule }: AccessJudgement) =>
    verdict === 'allow' && allowing.some(({ text }) => text === rule);
  const lifted = allowing.some(({ whole }) => whole) || (about.length > 0 && about.every(byRule));
  return lifted ? undefined : applyMode(mode, asks);
}

function strictest(parts: readonly AccessJudgement[]): AccessJudgement | undefined {
  for (const verdict of ['deny', 'ask', 'allow']) {
    const part = parts.find((one) => one.verdict === verdict);
    if (part !== undefined) return part;
  }
  return undefined;
}

/**
 * How much runs without approval.
 *   plan    reads only, with approval as in ask; the rest is refused
 *   ask     reads, new files and allowed uses run; the rest needs approval
 *   auto    everything that the sandbox contains runs; approval is needed only where the effect is unknown
 *   strict  reads, new files and allowed uses run, commands only when they are allowed; the rest is refused without asking
 */
export const MODES = ['plan', 'ask', 'auto', 'strict'] as const;
export type Mode = (typeof MODES)[number];

/** Applies the mode to a judgement. A refusal stays a refusal in every mode. */
function applyMode(mode: Mode, objection: AccessJudgement): AccessJudgement {
  if (objection.verdict === 'deny') return objection;
  if (mode === 'plan' && objection.changes) return refused(objection, 'Mode plan only reads');
  if (objection.verdict === 'allow') return objection;
  if (mode === 'strict') return refused(objection, 'Mode strict allows only listed calls');
  if (mode === 'auto' && objection.liftable) return { ...objection, verdict: 'allow', rule: 'mode auto' };
  return objection;
}

function refused(objection: AccessJudgement, why: string): AccessJudgement {
  return { ...objection, verdict: 'deny', reason: `${why}. ${objection.reason}` };
}
