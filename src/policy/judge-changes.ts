import type { Subject } from '../kernel/ports.ts';
import { oneLine } from '../kernel/text/visible.ts';
import type { ClassifiedChange } from '../kernel/world/stage.ts';
import { type AccessJudgement, strictest } from './access-judgement.ts';
import { describeChanges } from './describe-changes.ts';
import type { Mode } from './mode.ts';
import type { PolicyOptions } from './policy-options.ts';
import { type PathRuleMatch, rulesAboutChange, strictestRule } from './rules/path-rule.ts';
import { isExactRule, type Rule, type RuleVerdict } from './rules/rule.ts';

/** Changes that are named one by one; the others are counted. */
const MAX_NAMED = 50;
/** The same for those that come first: deletions, protected files, losses and refusals. */
const MAX_SEVERE = 1000;

/**
 * Judges pending changes of a command as a whole: by the user's rules about these paths, whichever file tool they name, then by
 * class and mode. The first part is the verdict about all of them, in one sentence; the others name single changes.
 */
export function judgeChanges(subject: Subject, options: PolicyOptions): readonly AccessJudgement[] {
  const { changes } = subject;
  if (changes === undefined) return [toPart(subject.tool, UNKNOWN)];
  const rules = {
    deleted: rulesAboutChange(subject.tool, { kind: 'delete', rules: options.rules }),
    written: rulesAboutChange(subject.tool, { kind: 'write', rules: options.rules }),
  };
  const judged = changes.map((change) => ({ change, ...judgeChange(change, rules, { subject, mode: options.mode }) }));
  const worst = strictest(judged);
  if (worst === undefined) return [toPart(subject.tool, NOTHING)];
  return [toPart(subject.tool, { ...worst, reason: summary(judged, worst.verdict) }), ...named(judged)];
}

interface ChangeRuling {
  readonly verdict: RuleVerdict;
  readonly rule: string;
  readonly reason: string;
}

interface JudgedChange extends ChangeRuling {
  readonly change: ClassifiedChange;
}

const COLLECTED: ChangeRuling = {
  verdict: 'allow',
  rule: 'collected',
  reason: 'The session collects its changes: they are decided about together.',
};
const UNKNOWN: ChangeRuling = {
  verdict: 'deny',
  rule: 'unknown changes',
  reason: 'These changes are not known any more. Run the command again.',
};
const NOTHING: ChangeRuling = { verdict: 'allow', rule: 'no changes', reason: 'It changes nothing.' };

interface RulesByKind {
  readonly deleted: readonly Rule[];
  readonly written: readonly Rule[];
}

function judgeChange(
  change: ClassifiedChange,
  rules: RulesByKind,
  { subject, mode }: { subject: Subject; mode: Mode },
): ChangeRuling {
  if (mode === 'plan') return { verdict: 'deny', rule: 'mode plan', reason: 'Mode plan keeps nothing.' };
  if (change.class === 'sensitive' || change.class === 'special')
    return { verdict: 'deny', rule: `${change.class} file`, reason: `It is never kept: ${reasonOf(change)}.` };
  if (subject.isPartial && change.class !== 'ignored')
    return { verdict: 'deny', rule: 'partial run', reason: 'The command was stopped before its end.' };
  const match = ruleAbout(change, rules);
  if (subject.isCollected && match?.rule.verdict !== 'deny' && !overwritesOthers(change)) return COLLECTED;
  const judged = judgeClass(change, match, { mode, allowedBy: subject.allowedBy ?? null });
  if (mode !== 'strict' || judged.verdict !== 'ask') return judged;
  return { ...judged, verdict: 'deny', reason: `Mode strict does not ask. ${judged.reason}` };
}

function ruleAbout({ path, kind, before }: ClassifiedChange, rules: RulesByKind): PathRuleMatch | undefined {
  const holding = kind === 'deleted' ? rules.deleted : rules.written;
  if (holding.length === 0) return undefined;
  const folder = kind === 'deleted' && before?.type === 'directory';
  return strictestRule(holding, { path, real: { path, folder }, changes: true });
}

function judgeClass(
  change: ClassifiedChange,
  match: PathRuleMatch | undefined,
  { mode, allowedBy }: { mode: Mode; allowedBy: string | null },
): ChangeRuling {
  const rule = match?.rule;
  if (rule?.verdict === 'deny')
    return match?.by === 'maybe below'
      ? { verdict: 'ask', rule: rule.text, reason: `The rule ${rule.text} may refuse something in it.` }
      : { verdict: 'deny', rule: rule.text, reason: `The rule ${rule.text} refuses it.` };
  if (change.class === 'protected')
    return { verdict: 'ask', rule: 'protected file', reason: `It is protected: ${reasonOf(change)}.` };
  if (overwritesOthers(change))
    return {
      verdict: 'ask',
      rule: 'changed meanwhile',
      reason: 'It changed in the workspace while the command ran, and that change would be lost.',
    };
  if (rule !== undefined) return { verdict: rule.verdict, rule: rule.text, reason: `The rule ${rule.text} says so.` };
  const byCommand = allowedBy === null ? null : allowedEffect(allowedBy);
  if (change.loses && byCommand !== null && isExactRule(byCommand.rule) && isTextOfFile(change)) return byCommand;
  if (change.loses)
    return {
      verdict: 'ask',
      rule: 'lasting loss',
      reason: `It takes away what nothing else has: ${reasonOf(change)}.`,
    };
  if (change.class === 'ignored') return { verdict: 'allow', rule: 'ignored file', reason: 'Git ignores it.' };
  if (change.class === 'new') return { verdict: 'allow', rule: 'new file', reason: 'It is a new file.' };
  if (byCommand !== null) return byCommand;
  if (mode !== 'ask') return { verdict: 'allow', rule: `mode ${mode}`, reason: `Mode ${mode} keeps it.` };
  return { verdict: 'ask', rule: 'changing', reason: CHANGING[change.kind] };
}

function allowedEffect(rule: string): ChangeRuling {
  return { verdict: 'allow', rule, reason: `The rule ${rule} allows the command.` };
}

/** Whoever allows exactly this command means its work on files as they are, committed or not. A folder may hold more than its text. */
function isTextOfFile({ class: kind, before }: ClassifiedChange): boolean {
  return kind === 'ordinary' && before?.type === 'file';
}

/** No rule and no mode can have meant an edit that nobody had made yet. */
function overwritesOthers({ kind, overtaken }: ClassifiedChange): boolean {
  return overtaken === true && (kind === 'modified' || kind === 'deleted');
}

const CHANGING: Readonly<Record<ClassifiedChange['kind'], string>> = {
  created: 'It adds a file there.',
  modified: 'It changes an existing file.',
  deleted: 'It deletes what is there.',
  mode: 'It changes the permissions.',
};

function reasonOf({ reason, class: kind }: ClassifiedChange): string {
  return (reason ?? `it counts as ${kind}`).replace(/\.$/, '');
}

/** One sentence about all changes, and what stands in the way of keeping them. */
function summary(judged: readonly JudgedChange[], verdict: RuleVerdict): string {
  const sentence = describeChanges(judged.map(({ change }) => change));
  const apart = judged.filter((one) => one.verdict === verdict && one.rule !== 'changing');
  const [first, ...more] = apart;
  if (verdict === 'allow' || first === undefined) return sentence;
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  if (first.rule === 'mode plan') return first.reason;
  const why = `${oneLine(first.change.path)}${others}: ${first.reason}`;
  if (verdict === 'ask') return `${sentence} ${why}`;
  const isAll = apart.length === judged.length;
  return `${sentence} Not kept: ${why}${isAll ? '' : ' Keep the others by naming them in paths.'}`;
}

/** The parts for the record and the person that name single changes: severe ones first, then others, then how many are left. */
function named(judged: readonly JudgedChange[]): readonly AccessJudgement[] {
  const severe = judged.filter(isSevere);
  const others = judged.filter((one) => !isSevere(one));
  const shown = [...severe.slice(0, MAX_SEVERE), ...others.slice(0, MAX_NAMED)];
  const parts = shown.map((one) => toPart(`${one.change.kind} ${oneLine(one.change.path)}`, one));
  const left = judged.length - shown.length;
  const worst = strictest([...severe.slice(MAX_SEVERE), ...others.slice(MAX_NAMED)]);
  if (worst === undefined) return parts;
  return [...parts, toPart(`${left} more`, { ...worst, reason: 'They are in the list of changes.' })];
}

function isSevere({ change, verdict }: JudgedChange): boolean {
  if (verdict === 'deny' || change.kind === 'deleted' || change.class === 'protected') return true;
  return change.loses === true || overwritesOthers(change);
}

function toPart(what: string, { verdict, rule, reason }: ChangeRuling): AccessJudgement {
  return { what, verdict, rule, reason, liftable: false, changes: true };
}
