import type { Ledger, RuleRecord } from '../../kernel/call/ledger.ts';
import { FLOW_RULES } from '../../kernel/call/session-flow.ts';
import { messageOf } from '../../kernel/error.ts';
import type { Logger, Subject } from '../../kernel/ports.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import type { FilePolicy } from '../../kernel/world/file-policy.ts';
import type { UrlJudge } from '../../kernel/world/web.ts';
import { checkRules, proposeRules, type RuleProposal } from '../../policy/always/propose-rule.ts';
import { createPolicy, type ExplainingPolicy } from '../../policy/create-policy.ts';
import type { Mode } from '../../policy/mode.ts';
import type { CommandEffects, PolicyOptions } from '../../policy/policy-options.ts';
import { type KnownTools, parseRule, parseRules, type RuleSet } from '../../policy/rules/parse-rules.ts';
import { withStrictList } from '../../policy/rules/strict-list.ts';
import type { SecretHider } from '../../secrets/hide-secrets.ts';
import { refuseSecretInRule } from '../../secrets/hide-secrets.ts';
import type { Config } from '../config/settings.ts';

interface PolicyParts {
  readonly config: Config;
  /** The id of the workspace: rules saved for another one have no effect. */
  readonly workspace: string;
  readonly files: FilePolicy;
  /** The same for what commands name. */
  readonly commandFiles?: FilePolicy;
  readonly home: string;
  /** Where the changes of commands go on this machine. */
  readonly effects: CommandEffects;
  /** Tools that rules may name. */
  readonly known: KnownTools;
  /** The tools of this process, for the built-in list of mode strict. */
  readonly tools: readonly Tool[];
  /** Judges URLs that are never fetched and hosts that are allowed. */
  readonly urls?: UrlJudge;
  readonly hider: SecretHider;
  readonly log: Logger;
}

export interface FollowedPolicy {
  readonly policy: ExplainingPolicy;
  mode(): Mode;
  /** Applies from the next call on, until this process ends. */
  switchMode(mode: Mode): Promise<Result<void>>;
  /**
   * Returns the narrowest rules that would allow this call without a question under the present rules, or checks that
   * the ones a person wrote are no wider than allowed.
   */
  propose(subject: Subject, written?: readonly string[]): Result<RuleProposal>;
  /** Applies the saved rules now instead of a moment later. */
  reload(): Promise<void>;
  stop(): void;
}

/**
 * Combines the rules of the configuration and those saved in the store by any process into one policy that stays
 * current. An invalid rule of the configuration is refused; an invalid saved rule, such as for a missing tool, has no
 * effect.
 */
export async function followPolicy(
  store: Ledger,
  { config, workspace, files, commandFiles, home, effects, known, tools, urls, hider, log }: PolicyParts,
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
    return {
      mode,
      rules: rules.toSorted(byStrictness),
      files,
      ...(commandFiles && { commandFiles }),
      home,
      effects,
      dataFlow: config.dataFlow,
      ...(urls && { urls }),
    };
  };
  let options: PolicyOptions;
  let current: ExplainingPolicy;
  let loading: Promise<void> = Promise.resolve();
  /** Loads one after another: the last to begin is the last to end and has the newest rules. */
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
      log.warn({}, `Saved rules cannot be read, trying again soon: ${messageOf(error)}`);
      clearTimeout(again);
      again = setTimeout(follow, AGAIN_MS).unref();
    });
  };
  const unfollow = store.follow(follow, { types: ['rule.saved', 'rule.removed'] });
  const stop = () => {
    unfollow();
    clearTimeout(again);
  };
  // Loaded after following began, so that no rule saved meanwhile is missed.
  await reload();
  const policy: ExplainingPolicy = {
    decide: (subject) => current.decide(subject),
    explain: (subject) => current.explain(subject),
    wantsPlaces: (tool, access) => current.wantsPlaces(tool, access),
    wantsFlow: () => current.wantsFlow(),
    wantsUnagreed: () => current.wantsUnagreed(),
  };
  const switchMode = async (mode: Mode) => {
    const fixed = fixedFor(mode);
    if (!fixed.ok) return fixed;
    chosen = { mode, fixed: fixed.value };
    await reload();
    return ok(undefined);
  };
  const propose: FollowedPolicy['propose'] = ({ flow, ...subject }, written) => {
    const asked = current
      .explain({ ...subject, ...(flow && { flow }) })
      .parts.filter(({ verdict }) => verdict === 'ask');
    if (asked.length > 0 && asked.every(({ rule }) => FLOW_RULES.has(rule)))
      return fail('INVALID_INPUT', FLOW_IS_ASKED);
    const made = written === undefined ? proposeRules(subject, options) : checkRules(written, subject, options);
    return made.ok ? (refuseSecretInRule(hider, made.value.rules) ?? made) : made;
  };
  return ok({ policy, mode: () => chosen.mode, switchMode, propose, reload, stop });
}

const AGAIN_MS = 1000;

const FLOW_IS_ASKED =
  'This cannot be allowed permanently: no rule lets data of a session out once untrusted text is in it. Allow it once instead.';

/** Returns the tools that take a command line. */
function commandTools(tools: readonly Tool[]): string[] {
  return tools.filter(({ patterns }) => patterns === 'commands').map(({ name }) => name);
}

const STRICTNESS = { deny: 0, ask: 1, allow: 2 };

function byStrictness(a: { verdict: keyof typeof STRICTNESS }, b: { verdict: keyof typeof STRICTNESS }): number {
  return STRICTNESS[a.verdict] - STRICTNESS[b.verdict];
}
