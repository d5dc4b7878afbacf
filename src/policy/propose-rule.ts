import type { Access } from '../kernel/access.ts';
import type { Subject } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { programName } from './commands/judge-command.ts';
import { parseScript } from './commands/shell-script.ts';
import { createPolicy, type Explanation, type PolicyOptions } from './create-policy.ts';
import { hostileVariants } from './hostile-variants.ts';
import { parseRule } from './rules.ts';

/** A rule that would spare the person this question next time, and in words what else it would let through. */
export interface ProposedRule {
  readonly rule: string;
  readonly covers: string;
}

/**
 * «Always»: the narrowest allow rules for everything a person is asked about in this call, one for each sub-command.
 * INVALID_INPUT, with the reason, where no rule could do that, or where it would let through what nobody said yes to.
 */
export function proposeRules(subject: Subject, options: PolicyOptions): Result<readonly ProposedRule[]> {
  if (subject.asksAlways) return refuse(`${subject.tool} is asked about every time`);
  const now = createPolicy(options).explain(subject);
  if (now.verdict !== 'ask') return refuse(now.verdict === 'deny' ? 'it is refused' : 'it runs unasked already');
  const proposed = new Map<string, ProposedRule>();
  for (const access of subject.access) {
    const rules = access.kind === 'process.run' ? commandRules(access, subject, now) : simpleRule(access, subject);
    if (!rules.ok) return rules;
    for (const rule of rules.value) proposed.set(rule.rule, rule);
  }
  const rules = [...proposed.values()];
  return rules.length === 0 ? refuse('no rule can answer for it') : checked(rules, subject, options);
}

function simpleRule(access: Exclude<Access, { kind: 'process.run' }>, { tool }: Subject): Result<ProposedRule[]> {
  switch (access.kind) {
    case 'fs.read':
      return ok([]);
    case 'fs.write':
    case 'fs.delete':
      if (/[*?[\]{}()]/.test(access.path)) return refuse(`${access.path} would be read as a pattern`);
      return ok([
        { rule: `${tool}(${access.path})`, covers: `${tool} for the file ${access.path}, whatever is in it` },
      ]);
    case 'net.fetch': {
      if (!URL.canParse(access.url)) return refuse(`${access.url} is not a URL`);
      const { host } = new URL(access.url);
      return ok([{ rule: `${tool}(domain:${host})`, covers: `every page of ${host}` }]);
    }
    case 'net.search':
      return ok([{ rule: tool, covers: 'every search, whatever is searched for' }]);
    case 'unknown':
      return ok([{ rule: tool, covers: `every call of ${tool}, whatever its arguments` }]);
  }
}

/** Programs that run what they are given by other means than their words: a rule for the words would allow anything. */
const OPEN_ENDED =
  /^(sh|bash|dash|zsh|ksh|ash|fish|eval|source|\.|exec|sudo|doas|su|xargs|parallel|watch|python[\d.]*|node|deno|bun|ruby|perl|php|lua|awk|gawk|sed|ssh|docker|podman|kubectl|nc|socat|find|curl|wget|tee|dd)$/;

type ProcessRun = Extract<Access, { kind: 'process.run' }>;

function commandRules({ code }: ProcessRun, { tool }: Subject, now: Explanation): Result<ProposedRule[]> {
  if (code !== undefined) return refuse('code is asked about every time');
  const rules: ProposedRule[] = [];
  for (const { what, verdict, rule, reason } of now.parts) {
    // The text behind a script is remembered by itself once it has run.
    if (verdict !== 'ask' || rule === 'unfamiliar script') continue;
    if (rule !== 'not read-only') return refuse(`a rule cannot answer this: ${reason}`);
    const argv = plainWords(what);
    if (argv === undefined) return refuse(`«${what}» is not made of plain words`);
    const [name = '', ...args] = argv;
    const file = args.find((word) => !word.startsWith('-'));
    const isScript = /^(python[\d.]*|node|ruby|perl|php|bash|sh)$/.test(name) && file !== undefined && args[0] === file;
    if (OPEN_ENDED.test(name) && !isScript)
      return refuse(`${name} can run anything, so a rule for it would allow anything`);
    const words = argv.map(quoted);
    if (words.includes(undefined)) return refuse(`«${what}» cannot be written as a rule`);
    rules.push({ rule: `${tool}(${words.join(' ')})`, covers: `exactly «${what}», as a part of any command` });
  }
  return ok(rules);
}

/** The words of one simple command, or undefined where it is more than that. */
function plainWords(text: string): string[] | undefined {
  const { commands, problems } = parseScript(text);
  const [only, ...more] = commands;
  if (only === undefined || more.length > 0 || problems.length > 0) return undefined;
  if (only.redirections.length > 0 || only.assignments.length > 0) return undefined;
  const values = only.words.map(({ value, pattern }) => (pattern ? null : value));
  if (values.includes(null)) return undefined;
  const [name = '', ...args] = values as string[];
  return [programName(name), ...args];
}

/** As a rule reads it; undefined where it cannot. */
function quoted(word: string): string | undefined {
  if (/^[\w@%+=:,./-]+$/.test(word) && !word.endsWith(':*')) return word;
  if (!word.includes("'")) return `'${word}'`;
  return word.includes('"') ? undefined : `"${word}"`;
}

/** The rules must answer the question, and nothing hostile that looks like it. */
function checked(
  proposed: readonly ProposedRule[],
  subject: Subject,
  options: PolicyOptions,
): Result<readonly ProposedRule[]> {
  const parsed = proposed.map(({ rule }) => parseRule(rule, 'allow'));
  const wrong = parsed.find((rule) => !rule.ok);
  if (wrong !== undefined && !wrong.ok) return wrong;
  const added = parsed.flatMap((rule) => (rule.ok ? [rule.value] : []));
  const policy = createPolicy({ ...options, rules: [...options.rules, ...added] });
  const left = policy
    .explain(subject)
    .parts.find(({ verdict, rule }) => verdict !== 'allow' && rule !== 'unfamiliar script');
  if (left !== undefined) return refuse(`it would still be asked about: ${left.reason}`);
  const hostile = hostileVariants(subject).find((variant) => policy.explain(variant).verdict === 'allow');
  if (hostile === undefined) return ok(proposed);
  return refuse(`a rule for it would also allow «${whatOf(hostile)}»`);
}

function whatOf({ access: [first] }: Subject): string {
  if (first === undefined) return 'nothing';
  if (first.kind === 'process.run') return first.command;
  return 'url' in first ? first.url : 'path' in first ? first.path : 'anything';
}

function refuse(why: string): Result<never> {
  return fail('INVALID_INPUT', `This cannot be allowed for good: ${why.replace(/\.$/, '')}. Allow it once instead.`);
}
