import { randomBytes } from 'node:crypto';
import type { RuleRecord } from '../../kernel/call/ledger.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { parseRule } from '../../policy/rules/parse-rules.ts';
import { refuseSecretInRule } from '../../secrets/hide-secrets.ts';
import type { App } from '../open-app.ts';
import { workspaceId } from '../workspace-id.ts';
import { knownTools } from './known-tools.ts';

/** The id and the time are null for a rule of the configuration, which is changed there. */
export type ListedRule = Omit<RuleRecord, 'id' | 'savedAt'> & {
  readonly id: string | null;
  readonly savedAt: number | null;
};

/**
 * Lists the rules of the configuration, of the workspace files, and the saved ones, the strictest first. Secrets in
 * rules of files are hidden.
 */
export async function listRules([app, ...others]: readonly [App, ...App[]]): Promise<ListedRule[]> {
  const saved = await app.store.rules();
  return (['deny', 'ask', 'allow'] as const).flatMap((verdict) => [
    ...app.loaded.config[verdict]
      .filter((rule) => !addedIn(app, verdict).includes(rule))
      .map((rule) => fixed(app, { rule, verdict, workspace: null })),
    ...[app, ...others].flatMap((each) => {
      const workspace = workspaceId(each.workspace.root);
      return addedIn(each, verdict).map((rule) => fixed(each, { rule, verdict, workspace }));
    }),
    ...saved.filter((one) => one.verdict === verdict),
  ]);
}

function addedIn({ loaded: { workspaceRules } }: App, verdict: RuleRecord['verdict']): readonly string[] {
  return verdict === 'allow' ? [] : workspaceRules[verdict];
}

function fixed({ hider }: App, { rule, ...rest }: Pick<RuleRecord, 'rule' | 'verdict' | 'workspace'>): ListedRule {
  return { id: null, rule: hider.hide(rule), ...rest, by: null, savedAt: null };
}

/** Saves a rule: "allow" for this workspace unless `everywhere` is set, "ask" and "deny" for all workspaces. */
export function saveRule(
  app: App,
  { rule, verdict, everywhere = verdict !== 'allow' }: Pick<RuleRecord, 'rule' | 'verdict'> & { everywhere?: boolean },
  by: string,
): Promise<Result<RuleRecord>> {
  const workspace = everywhere ? null : workspaceId(app.workspace.root);
  return saveRuleIn([app], { rule, verdict, workspace }, by);
}

/**
 * Saves a rule that every process of the store follows at once. Fails with INVALID_INPUT when the rule would have no
 * effect in any of these workspaces or contains a secret.
 */
export async function saveRuleIn(
  [app, ...others]: readonly [App, ...App[]],
  { rule, verdict, workspace }: Pick<RuleRecord, 'rule' | 'verdict' | 'workspace'>,
  by: string,
): Promise<Result<RuleRecord>> {
  const parsed = parseRule(rule, verdict, knownTools([app, ...others].map(({ registry }) => registry)));
  if (!parsed.ok) return parsed;
  const secret = refuseSecretInRule(app.hider, [rule]);
  if (secret !== undefined) return secret;
  const { text } = parsed.value;
  const saved = { id: randomBytes(6).toString('hex'), rule: text, verdict, by, savedAt: Date.now(), workspace };
  const data = { ruleId: saved.id, rule: text, verdict, by, workspace };
  await app.store.record({ type: 'rule.saved', at: saved.savedAt, data });
  return ok(saved);
}

export async function removeRule({ store }: App, ruleId: string, by: string): Promise<Result<null>> {
  const known = (await store.rules()).some(({ id }) => id === ruleId);
  if (!known)
    return fail('INVALID_INPUT', `There is no saved rule ${ruleId}. Those of the configuration are removed there.`);
  await store.record({ type: 'rule.removed', at: Date.now(), data: { ruleId, by } });
  return ok(null);
}
