import type { RulePatterns } from '../../kernel/tool/tool.ts';
import { parseScript } from '../../shell/parse-script.ts';
import { innerCommands, isTransparent } from '../../shell/wrappers.ts';
import { type RuleVerdict, WEB_METHODS } from './rule.ts';

interface RuleText {
  readonly tool: string;
  readonly pattern: string;
  readonly verdict: RuleVerdict;
}

/** Returns why a rule with this pattern could never match, and a better rule; undefined when it can match. */
export function whyIneffective(rule: RuleText, patterns: RulePatterns | undefined): string | undefined {
  switch (patterns) {
    case 'commands':
      return whyCommandIneffective(rule);
    case 'code':
      if (rule.verdict === 'allow')
        return `code is allowed as a whole or not at all; write ${rule.tool}, or allow commands of another tool`;
      return whyCommandIneffective(rule);
    case 'paths':
      return whyPathIneffective(rule);
    case 'hosts':
      if (isAboutHosts(rule)) return undefined;
      if (/^\S+\s+(domain|internal):/.test(rule.pattern))
        return `the method in front of a host is one of ${WEB_METHODS.join(', ')}, in capital letters`;
      return `${rule.tool} is ruled by host; write ${rule.tool}(domain:${hostIn(rule.pattern)})`;
    case 'none':
      return `rules for ${rule.tool} have no pattern; write ${rule.tool}`;
    case undefined:
      return undefined;
  }
}

function isAboutHosts({ pattern }: RuleText): boolean {
  return ABOUT_HOSTS.test(pattern);
}

const ABOUT_HOSTS = new RegExp(`^(?:(?:${WEB_METHODS.join('|')})\\s+)?(?:domain|internal):`);

function hostIn(pattern: string): string {
  return /^(?:\w+:\/\/)?((?:\*\.)?[\w.-]+)/.exec(pattern)?.[1]?.toLowerCase() ?? 'example.org';
}

function whyCommandIneffective(rule: RuleText): string | undefined {
  const { tool, pattern, verdict } = rule;
  if (isAboutHosts(rule)) {
    return `${tool} is ruled by command, as in ${tool}(npm test *); hosts that commands may reach belong in allowedHosts`;
  }
  const { commands, problems } = parseScript(pattern);
  const [only, ...more] = commands;
  if (more.length > 0) {
    const each = commands.map(({ words }) => `${tool}(${words.map(({ text }) => text).join(' ')})`);
    return `each command of a line needs a rule of its own; write ${each.join(' and ')}`;
  }
  if (only === undefined || problems.length > 0 || only.words.length === 0 || /[&|;]\s*$/.test(pattern)) {
    return 'it is not a single command; write its words, as in npm test *, and quote special characters';
  }
  if (only.redirections.length > 0 || only.assignments.length > 0 || only.input !== undefined) {
    const words = only.words.map(({ text }) => text).join(' ');
    return `redirections and variables are judged separately; write ${tool}(${words})`;
  }
  if (only.words.some(({ value }) => value === null)) {
    return 'the result of an expansion is not known when a rule is checked; write the word itself, in quotes if it is literal';
  }
  const [first, ...args] = only.words;
  if (verdict === 'allow' && isTransparent(first?.value ?? '', innerCommands(first?.value ?? '', args))) {
    return `${first?.text} only starts another command; write a rule for that command`;
  }
  return undefined;
}

function whyPathIneffective(rule: RuleText): string | undefined {
  const { tool, pattern } = rule;
  if (isAboutHosts(rule)) return `${tool} is ruled by path, as in ${tool}(docs/**)`;
  const inside = 'paths are written from the workspace, as in docs/**; nothing outside it can be reached by any rule';
  if (/^[/~]|^[A-Za-z]:[\\/]/.test(pattern)) return inside;
  if (pattern.split('/').includes('..')) return inside;
  if (pattern.endsWith('/')) return `it names no file; write ${tool}(${pattern}**) for all that is in the folder`;
  return undefined;
}
