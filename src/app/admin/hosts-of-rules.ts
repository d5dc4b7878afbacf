import { parseRule } from '../../policy/rules/parse-rules.ts';

/**
 * The hosts that allow rules of the user's configuration call internal, with a port where they name one. A rule for a
 * `domain:` says nothing about where it leads: that is its owner's choice.
 */
export function hostsOfRules(allow: readonly string[]): string[] {
  return allow.flatMap((text) => {
    const rule = parseRule(text, 'allow');
    return rule.ok && rule.value.hosts !== null && INTERNAL.test(text) ? [rule.value.hosts] : [];
  });
}

const INTERNAL = /\(\s*internal:/;
