import { fail, type Result } from '../kernel/result.ts';
import type { SecretHider } from '../runtime/hide-secrets.ts';

/** Why these cannot be saved, if one holds a secret: a rule is kept as it is written, and shown to all who may look. */
export function secretInRule(hider: SecretHider, rules: readonly string[]): Result<never> | undefined {
  const found = rules.find((rule) => hider.holds(rule));
  if (found === undefined) return undefined;
  const next = 'Write one without the secret, or answer for this call alone.';
  return fail('INVALID_INPUT', `The rule «${hider.hide(found)}» would keep a secret where others read it. ${next}`);
}
