import { parseScript } from '../shell/parse-script.ts';
import type { Rule } from './rules/rule.ts';

/** Whether a rule matches an example as a person would write it: a URL, a command line, or a path. */
export function ruleTarget(rule: Rule, example: string): boolean {
  if (/^https?:\/\//.test(example)) return URL.canParse(example) && rule.matchesUrl(new URL(example));
  if (rule.matchesPath(example.replace(/^\.?\//, ''))) return true;
  const { commands, problems } = parseScript(example);
  if (problems.length > 0 || commands.length === 0) return false;
  return commands.every(({ words }) => {
    const argv = words.map(({ value }) => value);
    return !argv.includes(null) && rule.command.matches(argv as string[]);
  });
}
