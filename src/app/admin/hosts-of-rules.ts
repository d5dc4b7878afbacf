import { parseRule } from '../../policy/rules/parse-rules.ts';

/**
 * Returns the hosts that allow rules of the user's configuration mark as internal, with a port if they name one. A rule
 * for a `domain:` marks none: the owner of the domain decides where it leads.
 */
export function hostsOfRules(allow: readonly string[]): string[] {
  return allow.flatMap((text) => {
    const rule = parseRule(text, 'allow');
    return rule.ok && rule.value.hosts !== null && INTERNAL.test(text) ? [rule.value.hosts] : [];
  });
}

const INTERNAL = /\(\s*(?:[A-Z]+\s+)?internal:/;
