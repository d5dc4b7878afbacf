import type { RuleSet } from './parse-rules.ts';

/**
 * The commands that mode `strict` allows by default for a tool that runs commands; docs/policy.md lists them. Each counts
 * only for its ordinary uses: `find`, not `find -delete`.
 */
export function strictCommands(tool: string): RuleSet {
  return { allow: COMMANDS.map((command) => ({ rule: `${tool}(${command})`, ordinary: true })) };
}

/**
 * Adds the default list for each tool that runs commands, unless the user allows commands of that tool: then these are the
 * list. Only allow rules count; ask and deny rules that a workspace adds change nothing here.
 */
export function withStrictList(rules: RuleSet, tools: readonly string[]): RuleSet {
  const texts = (rules.allow ?? []).map((source) => (typeof source === 'string' ? source : source.rule).trim());
  const unlisted = tools.filter((tool) => !texts.some((text) => text === tool || text.startsWith(`${tool}(`)));
  return { ...rules, allow: [...(rules.allow ?? []), ...unlisted.flatMap((tool) => strictCommands(tool).allow ?? [])] };
}

const COMMANDS = [
  'pwd',
  'true',
  ...anyUseOf('', 'ls cat head tail wc grep rg find sort uniq cut diff echo cd'),
  ...anyUseOf('git ', 'status diff log show branch'),
  ...anyUseOf('npm ', 'install ci test run ls'),
];

function anyUseOf(front: string, names: string): readonly string[] {
  return names.split(' ').map((name) => `${front}${name} *`);
}
