import type { RulePatterns } from '../../kernel/tool/tool.ts';
import { isSeenThrough } from '../commands/judge-command.ts';
import { parseScript } from '../../shell/parse-script.ts';
import type { RuleVerdict } from './rule.ts';

interface Written {
  readonly tool: string;
  readonly pattern: string;
  readonly verdict: RuleVerdict;
}

/** Why a rule with this pattern could never match anything, with what to write instead; undefined when it can. */
export function whyIneffective(rule: Written, patterns: RulePatterns | undefined): string | undefined {
  switch (patterns) {
    case 'commands':
      return ofCommands(rule);
    case 'code':
      if (rule.verdict === 'allow')
        return `code is allowed as a whole or not at all; write ${rule.tool}, or allow commands of another tool`;
      return ofCommands(rule);
    case 'paths':
      return ofPaths(rule);
    case 'hosts':
      if (isAboutHosts(rule)) return undefined;
      return `${rule.tool} is ruled by host; write ${rule.tool}(domain:${hostIn(rule.pattern)})`;
    case 'none':
      return `rules for ${rule.tool} have no pattern; write ${rule.tool}`;
    case undefined:
      return undefined;
  }
}

function isAboutHosts({ pattern }: Written): boolean {
  return /^(domain|internal):/.test(pattern);
}

function hostIn(pattern: string): string {
  return /^(?:\w+:\/\/)?((?:\*\.)?[\w.-]+)/.exec(pattern)?.[1]?.toLowerCase() ?? 'example.org';
}

function ofCommands(rule: Written): string | undefined {
  const { tool, pattern, verdict } = rule;
  if (isAboutHosts(rule)) {
    return `${tool} is ruled by command, as in ${tool}(npm test *); hosts that commands may reach stand in allowedHosts`;
  }
  const { commands, problems } = parseScript(pattern);
  const [only, ...more] = commands;
  if (more.length > 0) {
    const each = commands.map(({ words }) => `${tool}(${words.map(({ text }) => text).join(' ')})`);
    return `each command of a line is ruled by itself; write ${each.join(' and ')}`;
  }
  if (only === undefined || problems.length > 0 || only.words.length === 0 || /[&|;]\s*$/.test(pattern)) {
    return 'no single command looks like that; write its words, as in npm test *, and quote what is no plain word';
  }
  if (only.redirections.length > 0 || only.assignments.length > 0 || only.input !== undefined) {
    const words = only.words.map(({ text }) => text).join(' ');
    return `redirections and variables are judged apart from the words; write ${tool}(${words})`;
  }
  if (only.words.some(({ value }) => value === null)) {
    return 'what a shell computes is never known when a rule is asked; write the word itself, in quotes if it is meant';
  }
  const [first, ...args] = only.words;
  if (verdict === 'allow' && isSeenThrough(first?.value ?? '', args)) {
    return `${first?.text} is seen through; write a rule for the command behind it`;
  }
  return undefined;
}

function ofPaths(rule: Written): string | undefined {
  const { tool, pattern } = rule;
  if (isAboutHosts(rule)) return `${tool} is ruled by path, as in ${tool}(docs/**)`;
  const inside = 'paths are written from the workspace, as in docs/**; nothing outside it can be reached by any rule';
  if (/^[/~]|^[A-Za-z]:[\\/]/.test(pattern)) return inside;
  if (pattern.split('/').includes('..')) return inside;
  if (pattern.endsWith('/')) return `it names no file; write ${tool}(${pattern}**) for all that is in the folder`;
  return undefined;
}
