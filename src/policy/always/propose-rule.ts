import type { Access } from '../../kernel/tool/access.ts';
import type { VerdictPart } from '../../kernel/approval.ts';
import type { Subject } from '../../kernel/ports.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { READ_ONLY } from '../commands/command-judgement.ts';
import { createPolicy, type ExplainingPolicy, type Explanation, type PolicyOptions } from '../create-policy.ts';
import { hostileVariants, otherWords } from './hostile-variants.ts';
import { BESIDE_WRITING, isSureReader } from '../mixed-script.ts';
import { openEnded } from './unbounded-programs.ts';
import { plainWords } from '../../shell/plain-words.ts';
import type { Rule } from '../rules/rule.ts';
import { parseRule } from '../rules/parse-rules.ts';

/** Rules that would spare the person this question next time. */
export interface Proposal {
  readonly rules: readonly string[];
  /** In words, what each of them lets through. */
  readonly covers: readonly string[];
  /** Calls that look like this one and would still be asked about, or refused. */
  readonly refuses: readonly string[];
}

interface ProposedRule {
  readonly rule: string;
  readonly covers: string;
}

/**
 * «Always»: the narrowest allow rules for everything a person is asked about in this call, one for each sub-command.
 * INVALID_INPUT, with the reason, where no rule could do that, or where it would let through what nobody said yes to.
 */
export function proposeRules(subject: Subject, options: PolicyOptions): Result<Proposal> {
  const now = asked(subject, options);
  if (!now.ok) return now;
  const proposed = new Map<string, ProposedRule>();
  for (const access of subject.access) {
    const rules =
      access.kind === 'process.run' ? commandRules(access, subject, now.value) : simpleRule(access, subject);
    if (!rules.ok) return rules;
    for (const rule of rules.value) proposed.set(rule.rule, rule);
  }
  const rules = [...proposed.values()];
  if (rules.length === 0) return refuse('no rule can answer for it');
  if (rules.length > MOST_RULES) return refuse(`it has ${rules.length} parts that are asked about`);
  const texts = rules.map(({ rule }) => rule);
  const policy = policyWith(texts, options);
  if (!policy.ok) return policy;
  const left = policy.value
    .explain(subject)
    .parts.find(({ verdict, rule }) => verdict !== 'allow' && rule !== UNFAMILIAR);
  if (left !== undefined) return refuse(`it would still be asked about: ${left.reason}`);
  return narrow(rules, subject, options);
}

const MOST_RULES = 20;

/**
 * The same check for rules that a person wrote in the place of the proposed ones: each must answer something that is asked
 * about in this call, and none may let through what the proposed ones must not.
 */
export function checkRules(texts: readonly string[], subject: Subject, options: PolicyOptions): Result<Proposal> {
  const now = asked(subject, options);
  if (!now.ok) return now;
  if (texts.length > MOST_RULES)
    return refuse(`these are ${texts.length} rules, and ${MOST_RULES} are the most at once`);
  const questions = new Set(now.value.parts.filter(isQuestion).map(({ what }) => what));
  for (const text of texts) {
    const policy = policyWith([text], options);
    if (!policy.ok) return policy;
    const answered = policy.value.explain(subject).parts.filter(({ rule }) => rule === text);
    if (answered.length === 0) return refuse(`«${text}» answers nothing that is asked about here`);
    const other = answered.find(({ what }) => !questions.has(what));
    if (other !== undefined) return refuse(`«${text}» is also about «${other.what}», which nobody asks about`);
    const open = isCommand(subject) ? answered.map(({ what }) => whyOpen(what)).find(Boolean) : undefined;
    if (open !== undefined) return refuse(open);
  }
  return narrow(
    texts.map((rule) => ({ rule, covers: `whatever ${rule} matches` })),
    subject,
    options,
  );
}

function asked(subject: Subject, options: PolicyOptions): Result<Explanation> {
  if (subject.asksAlways) return refuse(`${subject.tool} is asked about every time`);
  const now = createPolicy(options).explain(subject);
  if (now.verdict === 'ask') return ok(now);
  return refuse(now.verdict === 'deny' ? 'it is refused' : 'it runs unasked already');
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

/** The rule of a question about the text behind a command, which is remembered by itself once it has run. */
const UNFAMILIAR = 'unfamiliar script';

type ProcessRun = Extract<Access, { kind: 'process.run' }>;

function commandRules({ code }: ProcessRun, { tool }: Subject, now: Explanation): Result<ProposedRule[]> {
  if (code !== undefined) return refuse('code is asked about every time');
  const rules: ProposedRule[] = [];
  for (const { what, verdict, rule, reason } of now.parts) {
    if (rule === UNFAMILIAR) continue;
    if (!isQuestion({ what, verdict, rule })) continue;
    const argv = plainWords(what);
    if (![READ_ONLY, 'not read-only', BESIDE_WRITING].includes(rule))
      return refuse(`a rule cannot answer this: ${reason}`);
    if (argv === undefined) return refuse(`«${what}» is not made of plain words`);
    const open = openEnded(argv);
    if (open !== undefined) return refuse(open);
    const words = argv.map(quoted);
    if (words.includes(undefined)) return refuse(`«${what}» cannot be written as a rule`);
    rules.push({ rule: `${tool}(${words.join(' ')})`, covers: `exactly «${what}», as a part of any command` });
  }
  return ok(rules);
}

/** What is asked about, and what would be once the rest was allowed: see `besideWriting`. */
function isQuestion({ what, verdict, rule }: Pick<VerdictPart, 'what' | 'verdict' | 'rule'>): boolean {
  if (verdict === 'ask') return true;
  const [program] = rule === READ_ONLY ? (plainWords(what) ?? []) : [];
  return program !== undefined && !isSureReader(program);
}

/** As a rule reads it; undefined where it cannot. */
function quoted(word: string): string | undefined {
  if (/^[\w@%+=:,./-]+$/.test(word) && !word.endsWith(':*')) return word;
  if (!word.includes("'")) return `'${word}'`;
  return word.includes('"') ? undefined : `"${word}"`;
}

function policyWith(texts: readonly string[], options: PolicyOptions): Result<ExplainingPolicy> {
  const added: Rule[] = [];
  for (const text of texts) {
    const parsed = parseRule(text, 'allow');
    if (!parsed.ok) return parsed;
    added.push(parsed.value);
  }
  return ok(createPolicy({ ...options, rules: [...options.rules, ...added] }));
}

const MOST_EXAMPLES = 8;

/** The rules may let nothing hostile pass that looks like the call, or like the part of it that they answer. */
function narrow(proposed: readonly ProposedRule[], subject: Subject, options: PolicyOptions): Result<Proposal> {
  const rules = proposed.map(({ rule }) => rule);
  const policy = policyWith(rules, options);
  if (!policy.ok) return policy;
  const parts = policy.value.explain(subject).parts.filter(({ rule }) => rules.includes(rule));
  const commands = isCommand(subject) ? parts.map(({ what }) => what) : [];
  const variants = [
    ...[subject, ...commands.map((one) => withCommand(subject, one))].flatMap(hostileVariants),
    ...commands.flatMap(otherWords).map((one) => withCommand(subject, one)),
  ];
  const before = createPolicy(options);
  const allowed = (by: ExplainingPolicy, one: Subject) => by.explain(one).verdict === 'allow';
  const hostile = variants.find((one) => allowed(policy.value, one) && !allowed(before, one));
  if (hostile !== undefined) return refuse(`a rule for it would also allow «${whatOf(hostile)}»`);
  const still = variants.filter((one) => !allowed(before, one)).map(whatOf);
  return ok({
    rules,
    covers: proposed.map(({ covers }) => covers),
    refuses: [...new Set(still)].slice(0, MOST_EXAMPLES),
  });
}

function isCommand({ access }: Subject): boolean {
  return access.some(({ kind }) => kind === 'process.run');
}

function withCommand(subject: Subject, command: string): Subject {
  return { ...subject, access: [{ kind: 'process.run', command, writes: 'workspace' }] };
}

function whyOpen(command: string): string | undefined {
  const argv = plainWords(command);
  return argv === undefined ? `«${command}» is not made of plain words` : openEnded(argv);
}

function whatOf({ access: [first] }: Subject): string {
  if (first === undefined) return 'nothing';
  if (first.kind === 'process.run') return first.command;
  return 'url' in first ? first.url : 'path' in first ? first.path : 'anything';
}

function refuse(why: string): Result<never> {
  return fail('INVALID_INPUT', `This cannot be allowed for good: ${why.replace(/\.$/, '')}. Allow it once instead.`);
}
