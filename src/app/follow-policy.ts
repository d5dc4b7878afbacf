import type { FilePolicy } from '../kernel/file-policy.ts';
import type { Ledger, RuleRecord } from '../kernel/ledger.ts';
import type { Subject } from '../kernel/ports.ts';
import { ok, type Result } from '../kernel/result.ts';
import type { Tool } from '../kernel/tool.ts';
import type { UrlJudge } from '../kernel/web.ts';
import { createPolicy, type ExplainingPolicy, type PolicyOptions } from '../policy/create-policy.ts';
import type { Mode } from '../policy/modes.ts';
import { checkRules, type Proposal, proposeRules } from '../policy/propose-rule.ts';
import { type KnownTools, parseRule, parseRules, type RuleSet } from '../policy/rules.ts';
import { withStrictList } from '../policy/strict-list.ts';
import type { Config } from './config/settings.ts';

interface PolicyParts {
  readonly config: Config;
  /** The id of the workspace it is for: rules that were saved for another one do nothing. */
  readonly workspace: string;
  readonly files: FilePolicy;
  readonly home: string;
  /** Whether a sandbox contains what runs. */
  readonly contained: boolean;
  /** Names that rules may speak of. */
  readonly known: KnownTools;
  /** Those of this process, for what mode strict lists by itself. */
  readonly tools: readonly Tool[];
  /** Which URLs are never fetched, and which hosts are allowed. */
  readonly urls?: UrlJudge;
}

export interface FollowedPolicy {
  readonly policy: ExplainingPolicy;
  mode(): Mode;
  /** Holds from the next call on, until this process ends. */
  switchMode(mode: Mode): Promise<Result<void>>;
  /**
   * The narrowest rules that would spare a person this question, as the rules stand now; or those that a person wrote
   * instead, if they are no wider than that allows.
   */
  propose(subject: Subject, written?: readonly string[]): Result<Proposal>;
  /** Rules saved until now hold from now on; without it they do a moment later. */
  reload(): Promise<void>;
  stop(): void;
}

/**
 * The configuration's rules and those saved in the store, by whatever process, as one policy that follows them. A rule
 * of the configuration that cannot be used is refused; a saved one that cannot, as when its tool is gone, does nothing.
 */
export async function followPolicy(
  store: Ledger,
  { config, workspace, files, home, contained, known, tools, urls }: PolicyParts,
): Promise<Result<FollowedPolicy>> {
  const given: RuleSet = { allow: config.allow, ask: config.ask, deny: config.deny };
  const fixedFor = (mode: Mode) =>
    parseRules(mode === 'strict' ? withStrictList(given, commandTools(tools)) : given, known);
  const first = fixedFor(config.mode);
  if (!first.ok) return first;
  let chosen = { mode: config.mode, fixed: first.value };
  const optionsWith = (saved: readonly RuleRecord[]): PolicyOptions => {
    const { mode, fixed } = chosen;
    const ours = saved.filter((rule) => rule.workspace === null || rule.workspace === workspace);
    const kept = ours.map(({ rule, verdict }) => parseRule(rule, verdict, known));
    const rules = [...fixed, ...kept.flatMap((rule) => (rule.ok ? [rule.value] : []))];
    return { mode, rules: rules.toSorted(byStrictness), files, home, contained, ...(urls && { urls }) };
  };
  let options = optionsWith(await store.rules());
  let current = createPolicy(options);
  const reload = async () => {
    options = optionsWith(await store.rules());
    current = createPolicy(options);
  };
  const stop = store.follow(({ type }) => {
    if (type === 'rule.saved' || type === 'rule.removed') void reload();
  });
  const policy: ExplainingPolicy = {
    decide: (subject) => current.decide(subject),
    explain: (subject) => current.explain(subject),
  };
  const switchMode = async (mode: Mode) => {
    const fixed = fixedFor(mode);
    if (!fixed.ok) return fixed;
    chosen = { mode, fixed: fixed.value };
    await reload();
    return ok(undefined);
  };
  const propose: FollowedPolicy['propose'] = (subject, written) =>
    written === undefined ? proposeRules(subject, options) : checkRules(written, subject, options);
  return ok({ policy, mode: () => chosen.mode, switchMode, propose, reload, stop });
}

/** Tools that take a command line. */
function commandTools(tools: readonly Tool[]): string[] {
  return tools.filter(({ patterns }) => patterns === 'commands').map(({ name }) => name);
}

const STRICTNESS = { deny: 0, ask: 1, allow: 2 };

function byStrictness(a: { verdict: keyof typeof STRICTNESS }, b: { verdict: keyof typeof STRICTNESS }): number {
  return STRICTNESS[a.verdict] - STRICTNESS[b.verdict];
}
