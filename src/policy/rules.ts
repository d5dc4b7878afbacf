import { globSource } from '../kernel/file-policy.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Rule, RuleVerdict } from './rule.ts';
import { ruleTarget } from './rule-target.ts';

/** A rule with examples: it is refused when it does not do what its writer thinks it does. */
export interface RuleWithExamples {
  readonly rule: string;
  readonly matches?: readonly string[];
  readonly not?: readonly string[];
}

export type RuleSource = string | RuleWithExamples;

/** Rules as data, in a configuration. Deny beats ask beats allow, whatever the order. */
export interface RuleSet {
  readonly allow?: readonly RuleSource[];
  readonly ask?: readonly RuleSource[];
  readonly deny?: readonly RuleSource[];
}

/** The names that a rule may speak of. */
export type KnownTools = Pick<ReadonlySet<string>, 'has'>;

/** All rules of a set, the strictest first; or what is wrong with the first wrong one. */
export function parseRules(set: RuleSet, knownTools?: KnownTools): Result<readonly Rule[]> {
  const rules: Rule[] = [];
  for (const verdict of ['deny', 'ask', 'allow'] as const) {
    for (const source of set[verdict] ?? []) {
      const rule = parseRule(source, verdict, knownTools);
      if (!rule.ok) return rule;
      rules.push(rule.value);
    }
  }
  return ok(rules);
}

export function parseRule(source: RuleSource, verdict: RuleVerdict, knownTools?: KnownTools): Result<Rule> {
  const text = (typeof source === 'string' ? source : source.rule).trim();
  const parts = /^([A-Za-z0-9_-]{1,64})(?:\((.*)\))?$/s.exec(text);
  if (parts === null) return wrong(text, 'a rule is a tool, or a tool with a pattern in parentheses: bash(npm test *)');
  const [, tool = '', pattern] = parts;
  if (knownTools !== undefined && !knownTools.has(tool))
    return wrong(text, `there is no tool ${tool}, so it would do nothing`);
  if (pattern !== undefined && pattern.trim() === '')
    return wrong(text, 'its pattern is empty, so it would match nothing');
  const rule = compile(text, verdict, tool, pattern?.trim());
  return rule.ok && typeof source !== 'string' ? checkExamples(rule.value, source) : rule;
}

function compile(text: string, verdict: RuleVerdict, tool: string, pattern: string | undefined): Result<Rule> {
  const never = () => false;
  const whole = {
    text,
    verdict,
    tool,
    whole: true,
    matchesCommand: () => true,
    matchesPath: () => true,
    matchesUrl: () => true,
    hosts: '*',
  };
  if (pattern === undefined || pattern === '*') return ok(whole);
  if (pattern.startsWith('domain:')) {
    const hosts = pattern.slice('domain:'.length).toLowerCase();
    const matchesUrl = domainMatcher(hosts);
    if (matchesUrl === undefined)
      return wrong(text, 'a domain is a host name, or *. and a host name, and perhaps a port; no path or scheme');
    return ok({ text, verdict, tool, whole: false, matchesCommand: never, matchesPath: never, matchesUrl, hosts });
  }
  const path = new RegExp(`^${globSource(pattern.replace(/^\.?\//, ''))}$`, 's');
  return ok({
    text,
    verdict,
    tool,
    whole: false,
    matchesCommand: commandMatcher(pattern),
    matchesPath: (given) => path.test(given),
    matchesUrl: never,
    hosts: null,
  });
}

/**
 * `npm test *`: the words as they stand, `*` inside a word for anything in it, and at the end for any further words. A
 * word in quotes is meant letter by letter.
 */
function commandMatcher(pattern: string): (argv: readonly string[]) => boolean {
  const words = pattern.replace(/:\*$/, ' *').match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
  const open = words.at(-1) === '*';
  const fixed = (open ? words.slice(0, -1) : words).map(wordMatcher);
  return (argv) => {
    if (open ? argv.length < fixed.length : argv.length !== fixed.length) return false;
    return fixed.every((matches, index) => matches(argv[index] ?? ''));
  };
}

function wordMatcher(word: string): (given: string) => boolean {
  const literal = /^(['"])(.*)\1$/s.exec(word)?.[2];
  if (literal !== undefined || !word.includes('*')) return (given) => given === (literal ?? word);
  const source = word.split('*').map((part) => part.replace(/[\\^$+.()|[\]{}?]/g, '\\$&'));
  const regex = new RegExp(`^${source.join('.*')}$`, 's');
  return (given) => regex.test(given);
}

/**
 * Exactly this host, or with `*.` every host below it; with a port, only there. Whole labels: `*.example.org` is not
 * `evilexample.org`.
 */
function domainMatcher(hosts: string): ((url: URL) => boolean) | undefined {
  const parts = /^((?:\*\.)?(?:[a-z0-9_-]+\.)*[a-z0-9_-]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?$/.exec(hosts);
  const [, host = '', port] = parts ?? [];
  if (parts === null || Number(port ?? 80) < 1 || Number(port ?? 80) > 65_535) return undefined;
  const below = host.startsWith('*.') ? host.slice(1) : undefined;
  return (url) => {
    if (port !== undefined && Number(port) !== portOf(url)) return false;
    const given = url.hostname.toLowerCase().replace(/\.$/, '');
    return below === undefined ? given === host : given.endsWith(below) && given.length > below.length;
  };
}

function portOf({ port, protocol }: URL): number {
  return port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
}

function checkExamples(rule: Rule, { matches = [], not = [] }: RuleWithExamples): Result<Rule> {
  const missed = matches.find((example) => !ruleTarget(rule, example));
  if (missed !== undefined) return wrong(rule.text, `it should match «${missed}», and does not`);
  const caught = not.find((example) => ruleTarget(rule, example));
  if (caught !== undefined) return wrong(rule.text, `it should not match «${caught}», and does`);
  return ok(rule);
}

function wrong(text: string, why: string): Result<never> {
  return fail('INVALID_INPUT', `The rule «${text}» cannot be used: ${why}.`);
}
