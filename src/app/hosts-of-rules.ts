import { parseRule } from '../policy/rules.ts';

/**
 * The hosts that allow rules of the user's configuration name exactly, with a port where they name one. Whoever writes
 * one down means that host, wherever it is; a pattern for many says nothing about where they lead, and neither does a
 * rule that was saved while answering a question.
 */
export function hostsOfRules(allow: readonly string[]): string[] {
  return allow.flatMap((text) => {
    const rule = parseRule(text, 'allow');
    const hosts = rule.ok ? rule.value.hosts : null;
    return hosts === null || hosts.startsWith('*') ? [] : [hosts];
  });
}
