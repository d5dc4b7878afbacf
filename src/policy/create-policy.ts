import { FLOW_RULES } from '../kernel/call/session-flow.ts';
import type { Policy, RealPath, Subject, Verdict } from '../kernel/ports.ts';
import type { Access } from '../kernel/tool/access.ts';
import { isDisputed } from '../kernel/world/file-policy.ts';
import { judgeAbsoluteWords } from './absolute-words.ts';
import { type AccessJudgement, type JudgedAccess, strictest } from './access-judgement.ts';
import { NETWORK, OUTSIDE_EFFECT } from './commands/command-judgement.ts';
import { judgeChanges } from './judge-changes.ts';
import { judgeFile } from './judge-file.ts';
import { judgeFlow, withoutIdleNetwork } from './judge-flow.ts';
import { BACKGROUND, judgeRun } from './judge-run.ts';
import { grantedRedirects, judgeSearch, judgeUrl } from './judge-web.ts';
import { applyMode, type Mode, requireRelative } from './mode.ts';
import type { PolicyOptions } from './policy-options.ts';
import { rulesAboutChange } from './rules/path-rule.ts';
import type { Rule } from './rules/rule.ts';

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
  wantsPlaces(tool: string, access: readonly Access[]): boolean;
  wantsFlow(): boolean;
  wantsUnagreed(): boolean;
}

/** Combines rules, mode and built-in limits into one decision. Pure: it knows names, never the disk. */
export function createPolicy(options: PolicyOptions): ExplainingPolicy {
  const ofParts = options.rules.filter(({ whole }) => !whole);
  const ruled = new Set(ofParts.map(({ tool }) => tool));
  const rulesChanges = ofParts.some(({ changes }) => changes !== undefined);
  return {
    decide: (subject) => explain(subject, options),
    explain: (subject) => explain(subject, options),
    wantsPlaces: (tool, access) =>
      rulesChanges ||
      ruled.has(tool) ||
      access.some((each) => 'path' in each && isDisputed(options.files.judge(each.path))),
    wantsFlow: () => options.dataFlow !== 'off',
    wantsUnagreed: () => options.mode === 'strict',
  };
}

/** One question is asked, with the reason of the flow behind the others. A rule that allows the rest keeps what it grants. */
function explain(subject: Subject, options: PolicyOptions): Explanation {
  const judged = subject.access.map((access) => judgeAccess(access, subject, options));
  const own = explainCall(subject, judged, options);
  if (own.verdict === 'deny') return own;
  const flow = judgeFlow(subject, judged, options).map((part) => applyMode(options.mode, part));
  if (flow.length > 0) return withFlow(own, flow);
  if (own.verdict === 'ask') return own;
  const offline = judged.map((each) => withoutIdleNetwork(subject, each, options));
  return offline.every((each, at) => each === judged[at]) ? own : explainCall(subject, offline, options);
}

function withFlow({ byRule: _, ...own }: Explanation, flow: readonly AccessJudgement[]): Explanation {
  const { mode, access = [] } = own;
  const parts = [...own.parts, ...flow];
  const { verdict, rule, reason, byMode } = strictest(flow) as AccessJudgement;
  if (verdict === 'deny') return { verdict, rule, reason, mode, parts, access, ...(byMode && { byMode }) };
  const mayRehearse = parts.every(isHarmlessOffline);
  const asked = own.verdict === 'ask' ? { rule: own.rule, reason: `${own.reason} ${reason}` } : { rule, reason };
  return { verdict, ...asked, mode, parts, access, ...(mayRehearse && { mayRehearse }) };
}

function explainCall(subject: Subject, judged: readonly JudgedAccess[], options: PolicyOptions): Explanation {
  const { mode } = options;
  const objections = judged.flatMap(({ parts }) => parts);
  const own = judgeOwnQuestion(subject, objections, options);
  const parts = own === undefined ? objections : [...objections, own];
  const worst: Omit<AccessJudgement, 'liftable' | 'changes'> = strictest(parts) ?? {
    what: subject.tool,
    verdict: 'allow',
    rule: 'touches nothing',
    reason: 'It accesses nothing.',
  };
  const { verdict, rule, reason, details } = worst;
  const access = judged.map((each) => each.access);
  const byRule = verdict === 'allow' ? judged.find((each) => each.byRule !== undefined)?.byRule : undefined;
  const byMode = verdict === 'deny' && parts.every((part) => part.verdict !== 'deny' || part.byMode);
  if (byMode) {
    const code = parts.find((part) => part.byMode)?.code;
    return { verdict, rule, reason, mode, parts, access, byMode, ...(code && { code }) };
  }
  if (details !== undefined) return { verdict, rule, reason, mode, parts, access, details };
  if (byRule === undefined) {
    const mayRehearse = verdict === 'ask' && parts.every(isHarmlessOffline);
    return { verdict, rule, reason, mode, parts, access, ...(mayRehearse && { mayRehearse }) };
  }
  const granted = access.map((each) => (each.kind === 'process.run' ? { ...each, allowedBy: byRule } : each));
  const about = { rule: byRule, reason: `The rule ${byRule} allows it.`, byRule: true as const };
  return { verdict, ...about, mode, parts, access: granted };
}

const OWN_QUESTION = "the tool's own";
/** Questions about effects that a run has only with network, outside the workspace, or when it goes on. */
const OUTSIDE_QUESTIONS: ReadonlySet<string> = new Set([
  NETWORK,
  OUTSIDE_EFFECT,
  BACKGROUND,
  OWN_QUESTION,
  ...FLOW_RULES,
]);

function isHarmlessOffline({ verdict, rule }: Pick<AccessJudgement, 'verdict' | 'rule'>): boolean {
  return verdict !== 'ask' || OUTSIDE_QUESTIONS.has(rule);
}

function judgeAccess(access: Access, subject: Subject, options: PolicyOptions): JudgedAccess {
  const { rules, mode, files } = options;
  const own = rules.filter(({ tool }) => tool === subject.tool);
  switch (access.kind) {
    case 'fs.read':
    case 'fs.write':
    case 'fs.delete': {
      const place = { ...placeOf(access, subject), isCollected: subject.isCollected === true };
      const judged = applyMode(mode, judgeFile(access, rulesAboutFile(access, subject.tool, rules), files, place));
      return { access, parts: [mode === 'strict' ? requireRelative(access.path, judged) : judged] };
    }
    case 'net.fetch':
      return {
        access: { ...access, redirects: grantedRedirects(access, own, options.urls) },
        parts: [applyMode(mode, judgeUrl(access, own, options.urls))],
      };
    case 'net.search':
      return { access, parts: [applyMode(mode, judgeSearch(access, own))] };
    case 'fs.apply':
      return { access, parts: judgeChanges(subject, options) };
    case 'process.run': {
      const judged = judgeRun(access, subject, options);
      const refused = mode === 'strict' ? judgeAbsoluteWords(access, subject.context.workingDir) : [];
      return { ...judged, parts: [...judged.parts, ...refused] };
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

function rulesAboutFile({ kind }: Access, tool: string, rules: readonly Rule[]): readonly Rule[] {
  if (kind === 'fs.read') return rules.filter((rule) => rule.tool === tool);
  return rulesAboutChange(tool, { kind: kind === 'fs.delete' ? 'delete' : 'write', rules });
}

function placeOf(access: Access, { context, places }: Subject): { root: string; real?: RealPath } {
  const real = places?.get(access);
  return { root: context.workingDir, ...(real && { real }) };
}

function isOfFiles({ kind }: Access): boolean {
  return kind === 'fs.read' || kind === 'fs.write' || kind === 'fs.delete';
}

/** The question of a tool that asks by itself. Unless it asks always, mode `auto` and allow rules for all that it touches answer it. */
function judgeOwnQuestion(
  subject: Subject,
  about: readonly AccessJudgement[],
  { rules, mode }: PolicyOptions,
): AccessJudgement | undefined {
  const { ownReason, asksAlways, tool } = subject;
  if (ownReason === undefined) return undefined;
  if (subject.isCollected && subject.access.every(isOfFiles)) return undefined;
  const asks: AccessJudgement = {
    what: tool,
    verdict: 'ask',
    rule: OWN_QUESTION,
    reason: ownReason,
    liftable: !asksAlways,
    changes: true,
  };
  if (asksAlways) return mode === 'plan' ? applyMode(mode, asks) : asks;
  const allowing = rules.filter((rule) => rule.verdict === 'allow');
  const byRule = ({ verdict, rule }: AccessJudgement) =>
    verdict === 'allow' && allowing.some(({ text }) => text === rule);
  const lifted = allowing.some((rule) => rule.tool === tool && rule.whole) || (about.length > 0 && about.every(byRule));
  return lifted ? undefined : applyMode(mode, asks);
}
