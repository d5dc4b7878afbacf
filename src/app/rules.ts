import { randomBytes } from 'node:crypto';
import type { RuleRecord } from '../kernel/ledger.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { parseRule } from '../policy/rules.ts';
import { knownTools } from './known-tools.ts';
import type { App } from './open-app.ts';
import { secretInRule } from './secret-in-rule.ts';
import { workspaceId } from './workspace-id.ts';

export interface ListedRule {
  /** Null for a rule of the configuration: it is changed there. */
  readonly id: string | null;
  readonly rule: string;
  readonly verdict: RuleRecord['verdict'];
  /** The only workspace it holds in; null holds in all. */
  readonly workspace: string | null;
}

/** The configuration's rules and the saved ones, the strictest first. */
export async function listRules({ loaded, store }: App): Promise<ListedRule[]> {
  const { config } = loaded;
  const saved = await store.rules();
  return (['deny', 'ask', 'allow'] as const).flatMap((verdict) => [
    ...config[verdict].map((rule) => ({ id: null, rule, verdict, workspace: null })),
    ...saved.filter((one) => one.verdict === verdict).map(({ by: _by, savedAt: _savedAt, ...rule }) => rule),
  ]);
}

/**
 * Every process that uses the store follows it at once. What loosens holds in this workspace unless it is to hold
 * everywhere; what tightens always does. INVALID_INPUT when it would do nothing, or keep a secret.
 */
export async function saveRule(
  app: App,
  { rule, verdict, everywhere = verdict !== 'allow' }: Pick<RuleRecord, 'rule' | 'verdict'> & { everywhere?: boolean },
  by: string,
): Promise<Result<ListedRule>> {
  const parsed = parseRule(rule, verdict, knownTools([app.registry]));
  if (!parsed.ok) return parsed;
  const secret = secretInRule(app.hider, [rule]);
  if (secret !== undefined) return secret;
  const ruleId = randomBytes(4).toString('hex');
  const { text } = parsed.value;
  const workspace = everywhere ? null : workspaceId(app.workspace.root);
  await app.store.record({ type: 'rule.saved', at: Date.now(), data: { ruleId, rule: text, verdict, by, workspace } });
  return ok({ id: ruleId, rule: text, verdict, workspace });
}

export async function removeRule({ store }: App, ruleId: string, by: string): Promise<Result<null>> {
  const known = (await store.rules()).some(({ id }) => id === ruleId);
  if (!known)
    return fail('INVALID_INPUT', `There is no saved rule ${ruleId}. Those of the configuration are removed there.`);
  await store.record({ type: 'rule.removed', at: Date.now(), data: { ruleId, by } });
  return ok(null);
}
