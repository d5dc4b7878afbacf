import { fail, ok, type Result } from '../../kernel/result.ts';
import { globMatcher, PATH_RULE_GLOB } from '../../kernel/text/glob.ts';
import type { Tool } from '../../kernel/tool/tool.ts';
import { parseScript } from '../../shell/parse-script.ts';
import { commandPattern, EVERY_COMMAND, NO_COMMAND } from './command-pattern.ts';
import { reachesBelow } from './path-rule.ts';
import { type Rule, type RuleVerdict, WEB_METHODS } from './rule.ts';
import { whyIneffective } from './rule-effect.ts';

/** A rule with examples: it is refused when an example contradicts it. */
export interface RuleWithExamples {
  readonly rule: string;
  readonly matches?: readonly string[];
  readonly not?: readonly string[];
  /** It counts only for commands whose options and operands are known to be ordinary. */
  readonly ordinary?: boolean;
}

export type RuleSource = string | RuleWithExamples;

/** Rules as data, in a configuration. Deny beats ask beats allow, whatever the order. */
export interface RuleSet {
  readonly allow?: readonly RuleSource[];
  readonly ask?: readonly RuleSource[];
  readonly deny?: readonly RuleSource[];
}

/** The tool names that a rule may use, and the tools behind them. */
export interface KnownTools {
  has(name: string): boolean;
  /** By name or alias; undefined for one that is not there now. */
  tool?(name: string): Pick<Tool, 'name' | 'patterns' | 'changesFiles' | 'readsFiles' | 'access' | 'plan'> | undefined;
}

/** Returns all rules of a set, the strictest first, or the error of the first invalid one. */
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
  if (parts === null)
    return invalidRule(text, 'a rule is a tool, or a tool with a pattern in parentheses: bash(npm test *)');
  const [, name = '', given] = parts;
  if (knownTools !== undefined && !knownTools.has(name))
    return invalidRule(text, `there is no tool ${name}, so it would do nothing`);
  const known = knownTools?.tool?.(name);
  const tool = known?.name ?? name;
  const pattern = given?.trim();
  if (pattern === '') return invalidRule(text, 'its pattern is empty, so it would match nothing');
  const isOpaque = known !== undefined && known.access === undefined && known.plan === undefined;
  const patterns = isOpaque ? 'none' : known?.patterns;
  const ineffective =
    pattern === undefined || pattern === '*' ? undefined : whyIneffective({ tool, pattern, verdict }, patterns);
  if (ineffective !== undefined) return invalidRule(text, ineffective);
  const ordinary = typeof source !== 'string' && source.ordinary === true;
  const uses = { changes: known?.changesFiles, reads: known?.readsFiles === true };
  const rule = compile({ text, verdict, tool, patterns, ...uses, ordinary }, pattern);
  return rule.ok && typeof source !== 'string' ? checkExamples(rule.value, source) : rule;
}

type RuleHead = Pick<Rule, 'text' | 'verdict' | 'tool' | 'patterns' | 'changes' | 'reads' | 'ordinary'>;

function compile(about: RuleHead, pattern: string | undefined): Result<Rule> {
  if (pattern === undefined || pattern === '*') {
    const every = { command: EVERY_COMMAND, matchesPath: () => true, matchesUrl: () => true, hosts: '*', method: null };
    return ok({ ...about, ...every, reachesBelow: () => 'below', paths: null, whole: true });
  }
  const nowhere = { matchesPath: () => false, reachesBelow: () => undefined, matchesUrl: () => false };
  const part = { ...about, ...nowhere, method: null, paths: null, whole: false };
  const [, method, kind, named] = HOST_PATTERN.exec(pattern) ?? [];
  if (named !== undefined) {
    const hosts = named.toLowerCase();
    const matchesUrl = domainMatcher(hosts);
    if (matchesUrl === undefined)
      return invalidRule(
        about.text,
        'a domain is a host name, or *. and a host name, and perhaps a port; no path or scheme',
      );
    if (kind === 'internal' && (about.verdict !== 'allow' || hosts.startsWith('*')))
      return invalidRule(about.text, 'internal: names one host that may be reached; write it in allow, without *');
    return ok({ ...part, command: NO_COMMAND, matchesUrl, hosts, method: methodOf(method, about.verdict) });
  }
  const glob = pattern.replace(/^\.?\//, '');
  const places = { matchesPath: globMatcher(glob, PATH_RULE_GLOB), reachesBelow: reachesBelow(glob) };
  return ok({ ...part, ...places, paths: glob, command: commandPattern(pattern), hosts: null });
}

/** `domain:` or `internal:` and a host, perhaps with a method in front. */
const HOST_PATTERN = new RegExp(`^(?:(${WEB_METHODS.join('|')})\\s+)?(domain|internal):(.*)$`, 's');

/** Without a method, what allows is about reading alone, and what holds back about every method. */
function methodOf(named: string | undefined, verdict: RuleVerdict): Rule['method'] {
  return WEB_METHODS.find((method) => method === named) ?? (verdict === 'allow' ? 'GET' : null);
}

/**
 * Matches exactly this host, or with `*.` every host below it; with a port, only that port. Labels are compared whole:
 * `*.example.org` does not match `evilexample.org`.
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
  const missed = matches.find((example) => !matchesExample(rule, example));
  if (missed !== undefined) return invalidRule(rule.text, `it should match "${missed}", and does not`);
  const caught = not.find((example) => matchesExample(rule, example));
  if (caught !== undefined) return invalidRule(rule.text, `it should not match "${caught}", and does`);
  return ok(rule);
}

/** Whether a rule matches an example as a person would write it: a URL, perhaps with `POST` in front, a command line, or a path. */
function matchesExample(rule: Rule, example: string): boolean {
  const [, method = 'GET', url] = /^(?:([A-Z]+) )?(https?:\/\/.*)$/s.exec(example) ?? [];
  if (url !== undefined) {
    const isMeant = rule.method === null || rule.method === method;
    return isMeant && URL.canParse(url) && rule.matchesUrl(new URL(url));
  }
  if (rule.matchesPath(example.replace(/^\.?\//, ''))) return true;
  const { commands, problems } = parseScript(example);
  if (problems.length > 0 || commands.length === 0) return false;
  return commands.every(({ words }) => {
    const argv = words.map(({ value }) => value);
    return !argv.includes(null) && rule.command.matches(argv as string[]);
  });
}

function invalidRule(text: string, why: string): Result<never> {
  return fail('INVALID_INPUT', `The rule "${text}" cannot be used: ${why}.`);
}
