import { messageOf } from '../../kernel/error.ts';
import type { FilePolicy } from '../../kernel/file-policy.ts';
import type { Ledger, RuleRecord } from '../../kernel/call/ledger.ts';
import type { Logger, Subject } from '../../kernel/ports.ts';
import { ok, type Result } from '../../kernel/result.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { UrlJudge } from '../../kernel/world/web.ts';
import { createPolicy, type ExplainingPolicy, type PolicyOptions } from '../../policy/create-policy.ts';
import type { Mode } from '../../policy/modes.ts';
import { checkRules, type Proposal, proposeRules } from '../../policy/always/propose-rule.ts';
import { type KnownTools, parseRule, parseRules, type RuleSet } from '../../policy/rules/parse-rules.ts';
import { withStrictList } from '../../policy/rules/strict-list.ts';
import type { SecretHider } from '../../runtime/hide-secrets.ts';
import type { Config } from '../config/settings.ts';
import { secretInRule } from '../secret-in-rule.ts';

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
  readonly hider: SecretHider;
  readonly log: Logger;
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
  { config, workspace, files, home, contained, known, tools, urls, hider, log }: PolicyParts,
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
  let options: PolicyOptions;
  let current: ExplainingPolicy;
  let loading: Promise<void> = Promise.resolve();
  /** One after the other: the last to begin is the last to end, and knows the most. */
  const reload = () => {
    loading = loading.then(load, load);
    return loading;
  };
  async function load(): Promise<void> {
    options = optionsWith(await store.rules());
    current = createPolicy(options);
  }
  let again: NodeJS.Timeout | undefined;
  const follow = () => {
    reload().catch((error) => {
      log.warn({}, `Saved rules cannot be read now, and will be soon: ${messageOf(error)}`);
      clearTimeout(again);
      again = setTimeout(follow, AGAIN_MS).unref();
    });
  };
  const unfollow = store.follow(({ type }) => {
    if (type === 'rule.saved' || type === 'rule.removed') follow();
  });
  const stop = () => {
    unfollow();
    clearTimeout(again);
  };
  // Only now: one that is saved meanwhile is heard of.
  await reload();
  const policy: ExplainingPolicy = {
    decide: (subject) => current.decide(subject),
    explain: (subject) => current.explain(subject),
    wantsPlaces: (tool) => current.wantsPlaces(tool),
  };
  const switchMode = async (mode: Mode) => {
    const fixed = fixedFor(mode);
    if (!fixed.ok) return fixed;
    chosen = { mode, fixed: fixed.value };
    await reload();
    return ok(undefined);
  };
  const propose: FollowedPolicy['propose'] = (subject, written) => {
    const made = written === undefined ? proposeRules(subject, options) : checkRules(written, subject, options);
    return made.ok ? (secretInRule(hider, made.value.rules) ?? made) : made;
  };
  return ok({ policy, mode: () => chosen.mode, switchMode, propose, reload, stop });
}

const AGAIN_MS = 1000;

/** Tools that take a command line. */
function commandTools(tools: readonly Tool[]): string[] {
  return tools.filter(({ patterns }) => patterns === 'commands').map(({ name }) => name);
}

const STRICTNESS = { deny: 0, ask: 1, allow: 2 };

function byStrictness(a: { verdict: keyof typeof STRICTNESS }, b: { verdict: keyof typeof STRICTNESS }): number {
  return STRICTNESS[a.verdict] - STRICTNESS[b.verdict];
}
