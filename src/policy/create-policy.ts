import { posix } from 'node:path';
import type { Access } from '../kernel/tool/access.ts';
import { isHarmlessVariable, isObeyedVariable } from '../kernel/world/environment.ts';
import type { FilePolicy } from '../kernel/file-policy.ts';
import type { Policy, RealPlace, Subject, Verdict } from '../kernel/ports.ts';
import type { UrlJudge } from '../kernel/world/web.ts';
import { type CommandJudgement, type CommandPart, READ_ONLY } from './commands/command-judgement.ts';
import { judgeCommand } from './commands/judge-command.ts';
import { judgeFile, type Objection } from './judge-file.ts';
import { grantedRedirects, judgeSearch, judgeUrl } from './judge-web.ts';
import { lookUp } from './rules/find-rule.ts';
import { BESIDE_WRITING, besideWriting } from './mixed-script.ts';
import type { Mode } from './modes.ts';
import { inMode } from './modes.ts';
import type { Rule } from './rules/rule.ts';

export interface PolicyOptions {
  readonly mode: Mode;
  readonly rules: readonly Rule[];
  readonly files: FilePolicy;
  /** The user's home, which no command may touch. */
  readonly home: string;
  /** Whether a sandbox contains what runs. Left out: yes. */
  readonly contained?: boolean;
  /** Which URLs are never fetched, and which hosts are allowed: `createWeb` gives it. */
  readonly urls?: UrlJudge;
}

/** A verdict with everything that led to it, for a person who wants to know why. */
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

/** Rules, mode and floors as one decision. Pure: it knows names, never the disk. */
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
  const own = ownWish(subject, objections, options);
  const parts = own === undefined ? objections : [...objections, own];
  const worst = strictest(parts) ?? {
    what: subject.tool,
    verdict: 'allow',
    rule: 'touches nothing',
    reason: 'It touches nothing.',
  };
  const { verdict, rule, reason } = worst;
  return { verdict, rule, reason, mode, parts, access: judged.map(({ access }) => access) };
}

interface Judged {
  readonly access: Access;
  readonly parts: readonly Objection[];
}

function judgeAccess(access: Access, subject: Subject, options: PolicyOptions): Judged {
  const { rules, mode, files, contained = true } = options;
  const own = rules.filter(({ tool }) => tool === subject.tool);
  switch (access.kind) {
    case 'fs.read':
    case 'fs.write':
    case 'fs.delete':
      return { access, parts: [inMode(mode, judgeFile(access, own, files, placed(access, subject)))] };
    case 'net.fetch':
      return {
        access: { ...access, redirects: grantedRedirects(own, options.urls) },
        parts: [inMode(mode, judgeUrl(access, own, options.urls))],
      };
    case 'net.search':
      return { access, parts: [inMode(mode, judgeSearch(access, own))] };
    case 'process.run': {
      const judgement = judgeRun(access, subject, options);
      if (access.code !== undefined) return { access, parts: judgeCode(access.code, judgement, subject, options) };
      const parts = [
        ...besideWriting(judgement).map((part) => ofCommand(listed(part, mode))),
        ...unseen(access, judgement, own, mode),
      ].map((part) => inMode(mode, contained ? part : { ...part, liftable: false }));
      return { access: judgement.readOnly ? { ...access, writes: 'nothing' } : access, parts };
    }
    case 'unknown': {
      const about = { what: subject.tool, liftable: false, changes: true };
      const whole = own.find((rule) => rule.whole);
      const part: Objection =
        whole === undefined
          ? {
              ...about,
              verdict: 'ask',
              rule: 'unknown access',
              reason: `${subject.tool} does not say what it touches.`,
            }
          : { ...about, verdict: whole.verdict, rule: whole.text, reason: `The rule ${whole.text} says so.` };
      return { access, parts: [inMode(mode, part)] };
    }
  }
}

function placed(access: Access, { context, places }: Subject): { root: string; real?: RealPlace } {
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
  return judgeCommand(source, place, lookUp(rulesAbout(subject.tool, rules)));
}

/** The tool's own rules, and what other tools' rules hold back from a shell: it is the same shell, whoever starts it. */
function rulesAbout(tool: string, rules: readonly Rule[]): readonly Rule[] {
  return rules.filter(
    (rule) => rule.tool === tool || (rule.verdict !== 'allow' && !rule.whole && isAboutCommands(rule)),
  );
}

function isAboutCommands({ patterns, hosts, text }: Rule): boolean {
  if (patterns !== undefined) return patterns === 'commands' || patterns === 'code';
  // Nobody has said what its pattern means: several words, or one that is no glob.
  return hosts === null && (/\s/.test(text) || !/[*/]/.test(text));
}

/**
 * Code is not asked about, since the sandbox contains it; a rule for the tool as a whole says otherwise. Code for bash
 * meets what no command may do all the same, and what the rules hold back from commands.
 */
function judgeCode(
  language: string,
  { parts }: CommandJudgement,
  { tool }: Subject,
  { rules, mode, contained: containedBySandbox = true }: PolicyOptions,
): readonly Objection[] {
  const texts = new Set(rules.map(({ text }) => text));
  const held = parts.filter(({ verdict, rule }) => verdict === 'deny' || (verdict === 'ask' && texts.has(rule)));
  const whole = rules.find((rule) => rule.tool === tool && rule.whole);
  const about = { what: `${language} code`, liftable: true, changes: true };
  const contained: Objection =
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
  return [...held.map(ofCommand), contained].map((part) => inMode(mode, part));
}

/** In mode `strict` it is not enough that a command only reads: it has to be on the list. */
function listed(part: CommandPart, mode: Mode): CommandPart {
  if (mode !== 'strict' || part.rule !== READ_ONLY || part.program === null) return part;
  return {
    ...part,
    verdict: 'ask',
    rule: 'not listed',
    reason: `${part.program} is not on the list of allowed commands.`,
  };
}

/** A command's part, and whether mode `auto` answers for the person: what is not understood is still asked about. */
function ofCommand({ text, verdict, rule, reason }: CommandPart): Objection {
  return {
    what: text,
    verdict,
    rule,
    reason,
    liftable: ['not read-only', 'redirection', 'environment', BESIDE_WRITING].includes(rule),
    changes: rule !== READ_ONLY,
  };
}

/** What is not in the command line and may change what runs: variables, and scripts of the project that nobody has seen. */
function unseen(
  { env = [], unfamiliar, exposes }: ProcessRun,
  { readOnly }: CommandJudgement,
  own: readonly Rule[],
  mode: Mode,
): Objection[] {
  const asks = { verdict: 'ask', changes: true } as const;
  const variables: Objection[] = env
    .filter((name) => !isHarmlessVariable(name))
    .map((name) => ({
      ...asks,
      what: `${name}=…`,
      rule: 'environment',
      reason: `The variable ${name} may change what runs.`,
      liftable: !isObeyedVariable(name),
    }));
  if (exposes !== undefined) {
    const reason = `It may print ${exposes} from the repository, where nothing hides it.`;
    variables.push({ ...asks, what: exposes, rule: 'sensitive file', reason, liftable: false, changes: false });
  }
  // A rule for words cannot know the text behind them. In mode `strict` the list is the answer: nobody is asked.
  const vouched = readOnly || mode === 'strict' || own.some(({ whole, verdict }) => whole && verdict === 'allow');
  if (unfamiliar === undefined || vouched) return variables;
  const { path, reason } = unfamiliar;
  return [...variables, { ...asks, what: path, rule: 'unfamiliar script', reason, liftable: true }];
}

/** A tool may ask by itself. Unless it says always, mode `auto` lifts that, and so do allow rules for all it touches. */
function ownWish(subject: Subject, about: readonly Objection[], { rules, mode }: PolicyOptions): Objection | undefined {
  const { ownReason, asksAlways, tool } = subject;
  if (ownReason === undefined) return undefined;
  const asks: Objection = {
    what: tool,
    verdict: 'ask',
    rule: "the tool's own",
    reason: ownReason,
    liftable: !asksAlways,
    changes: true,
  };
  if (asksAlways) return mode === 'plan' ? inMode(mode, asks) : asks;
  const allowing = rules.filter((rule) => rule.tool === tool && rule.verdict === 'allow');
  const byRule = ({ verdict, rule }: Objection) => verdict === 'allow' && allowing.some(({ text }) => text === rule);
  const lifted = allowing.some(({ whole }) => whole) || (about.length > 0 && about.every(byRule));
  return lifted ? undefined : inMode(mode, asks);
}

function strictest(parts: readonly Objection[]): Objection | undefined {
  for (const verdict of ['deny', 'ask', 'allow']) {
    const part = parts.find((one) => one.verdict === verdict);
    if (part !== undefined) return part;
  }
  return undefined;
}
