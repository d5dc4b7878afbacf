import type { RuleSet } from './parse-rules.ts';

/**
 * What mode `strict` allows for a tool that runs commands, unless the user says otherwise. Documented in docs/policy.md.
 * Each counts for uses that are known: `find`, not `find -delete`.
 */
export function strictCommands(tool: string): RuleSet {
  return { allow: COMMANDS.map((command) => ({ rule: `${tool}(${command})`, ordinary: true })) };
}

/**
 * The rules with the default list for each tool that takes commands, unless the user allows commands of that tool: then
 * that is the list. Only an allow lists something; a workspace may add asks and denies, and they change nothing here.
 */
export function withStrictList(rules: RuleSet, tools: readonly string[]): RuleSet {
  const texts = (rules.allow ?? []).map((source) => (typeof source === 'string' ? source : source.rule).trim());
  const unlisted = tools.filter((tool) => !texts.some((text) => text === tool || text.startsWith(`${tool}(`)));
  return { ...rules, allow: [...(rules.allow ?? []), ...unlisted.flatMap((tool) => strictCommands(tool).allow ?? [])] };
}

const COMMANDS = [
  'ls *',
  'pwd',
  'cat *',
  'head *',
  'tail *',
  'wc *',
  'grep *',
  'rg *',
  'find *',
  'sort *',
  'uniq *',
  'cut *',
  'diff *',
  'echo *',
  'cd *',
  'true',
  'git status *',
  'git diff *',
  'git log *',
  'git show *',
  'git branch *',
  'npm install *',
  'npm ci *',
  'npm test *',
  'npm run *',
  'npm ls *',
];
