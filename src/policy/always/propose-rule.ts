import type { VerdictPart } from '../../kernel/call/approval.ts';
import type { Subject } from '../../kernel/ports.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { oneLine, visible } from '../../kernel/text/visible.ts';
import type { Access } from '../../kernel/tool/access.ts';
import { plainWords } from '../../shell/plain-words.ts';
import { BY_CHANGES, NETWORK, OUTSIDE_EFFECT } from '../commands/command-judgement.ts';
import { isInert } from '../commands/inert-programs.ts';
import { createPolicy, type ExplainingPolicy, type Explanation } from '../create-policy.ts';
import { BACKGROUND, WRITES_FILES } from '../judge-run.ts';
import type { PolicyOptions } from '../policy-options.ts';
import { parseRule } from '../rules/parse-rules.ts';
import type { Rule } from '../rules/rule.ts';
import { whyTooWide } from './rule-width.ts';
import { unboundedReason } from './unbounded-programs.ts';

/** Rules with which this call would need no approval next time. */
export interface RuleProposal {
  readonly rules: readonly string[];
  /** In words, the calls that each of them allows. */
  readonly covers: readonly string[];
}

interface ProposedRule {
  readonly rule: string;
  readonly covers: string;
}

/**
 * Proposes rules for the answer "always": the narrowest allow rules for everything in this call that needs approval, one for
 * each sub-command. INVALID_INPUT, with the reason, where no rule could do that, or where it would allow more than the
 * person approved.
 */
export function proposeRules(subject: Subject, options: PolicyOptions): Result<RuleProposal> {
  const now = explainQuestion(subject, options);
  if (!now.ok) return now;
  const proposed = new Map<string, ProposedRule>();
  for (const access of subject.access) {
    const rules =
      access.kind === 'process.run' ? commandRules(access, subject, now.value) : simpleRule(access, subject, now.value);
    if (!rules.ok) return rules;
    for (const rule of rules.value) proposed.set(rule.rule, rule);
  }
  const rules = [...proposed.values()];
  if (rules.length === 0) return refuse('no rule can cover it');
  if (rules.length > MAX_RULES) return refuse(`it has ${rules.length} parts that need approval`);
  const texts = rules.map(({ rule }) => rule);
  const added: Rule[] = [];
  for (const text of texts) {
    const parsed = parseRule(text, 'allow');
    if (!parsed.ok) return parsed;
    added.push(parsed.value);
  }
  const left = policyWith(added, options)
    .explain(subject)
    .parts.find(({ verdict }) => verdict !== 'allow');
  if (left !== undefined) return refuse(`it would still need approval: ${left.reason}`);
  return ok({ rules: texts, covers: rules.map(({ covers }) => covers) });
}

const MAX_RULES = 20;

/**
 * Checks rules that a person wrote in place of the proposed ones: each must cover something in this call that needs
 * approval, and none may be wider than calls of its kind.
 */
export function checkRules(texts: readonly string[], subject: Subject, options: PolicyOptions): Result<RuleProposal> {
  const now = explainQuestion(subject, options);
  if (!now.ok) return now;
  if (texts.length > MAX_RULES)
    return refuse(`these are ${texts.length} rules, and at most ${MAX_RULES} can be added at once`);
  const questions = new Set(now.value.parts.filter(isQuestion).map(({ what }) => what));
  for (const text of texts) {
    const added = parseRule(text, 'allow');
    if (!added.ok) return added;
    const answered = policyWith([added.value], options)
      .explain(subject)
      .parts.filter(({ rule }) => rule === text);
    if (answered.length === 0) return refuse(`"${text}" covers nothing that needs approval here`);
    const other = answered.find(({ what }) => !questions.has(what));
    if (other !== undefined) return refuse(`"${text}" also covers "${other.what}", which needs no approval`);
    const isCommand = subject.access.some(({ kind }) => kind === 'process.run');
    const open = isCommand ? answered.map(({ what }) => boundedWords(what)).find(({ ok }) => !ok) : undefined;
    if (open?.ok === false) return open;
    const wide = subject.access.map((access) => whyTooWide(added.value, access)).find(Boolean);
    if (wide !== undefined) return refuse(wide);
  }
  return ok({ rules: texts, covers: texts.map((rule) => `everything that ${rule} matches`) });
}

function explainQuestion(subject: Subject, options: PolicyOptions): Result<Explanation> {
  if (subject.asksAlways) return refuse(`${subject.tool} needs approval every time`);
  const now = createPolicy(options).explain(subject);
  if (now.verdict === 'ask') return ok(now);
  return refuse(now.verdict === 'deny' ? 'it is refused' : 'it runs without approval already');
}

function simpleRule(
  access: Exclude<Access, { kind: 'process.run' }>,
  { tool, changes }: Subject,
  now: Explanation,
): Result<ProposedRule[]> {
  switch (access.kind) {
    case 'fs.read':
      return ok([]);
    case 'fs.write':
    case 'fs.delete':
      if (/[*?[\]{}()]/.test(access.path)) return refuse(`${access.path} would be read as a pattern`);
      return ok([
        { rule: `${tool}(${access.path})`, covers: `${tool} for the file ${access.path}, whatever is in it` },
      ]);
    case 'fs.apply':
      return changeRules(tool, changes ?? [], now);
    case 'net.fetch': {
      if (!URL.canParse(access.url)) return refuse(`${access.url} is not a URL`);
      const { host } = new URL(access.url);
      if (access.method === 'GET')
        return ok([{ rule: `${tool}(domain:${host})`, covers: `reading every page of ${host}` }]);
      const covers = `every ${access.method} to ${host}, whatever is sent`;
      return ok([{ rule: `${tool}(${access.method} domain:${host})`, covers }]);
    }
    case 'net.search':
      return ok([{ rule: tool, covers: 'every search, whatever is searched for' }]);
    case 'unknown':
      return ok([{ rule: tool, covers: `every call of ${tool}, whatever its arguments` }]);
  }
}

/** One rule for each path that is asked about. */
function changeRules(
  tool: string,
  changes: NonNullable<Subject['changes']>,
  { parts }: Explanation,
): Result<ProposedRule[]> {
  const asked = new Set(parts.filter(({ verdict }) => verdict === 'ask').map(({ what }) => what));
  const paths = changes.filter(({ kind, path }) => asked.has(`${kind} ${oneLine(path)}`)).map(({ path }) => path);
  const odd = paths.find((path) => /[*?[\]{}()]/.test(path));
  if (odd !== undefined) return refuse(`${odd} would be read as a pattern`);
  const unseen = paths.find((path) => oneLine(path) !== path);
  if (unseen !== undefined) return refuse(`${oneLine(unseen)} has characters that nobody sees in a rule`);
  return ok(
    paths.map((path) => ({
      rule: `${tool}(${path})`,
      covers: `changes that commands make to ${path}, whatever they are`,
    })),
  );
}

type CommandAccess = Extract<Access, { kind: 'process.run' }>;

function commandRules({ code }: CommandAccess, { tool }: Subject, now: Explanation): Result<ProposedRule[]> {
  if (code !== undefined) return refuse('code needs approval every time');
  const rules: ProposedRule[] = [];
  for (const { what, verdict, rule, reason } of now.parts) {
    // Rules for all parts answer these.
    if (rule === BACKGROUND || rule === WRITES_FILES) continue;
    if (!isQuestion({ what, verdict, rule })) continue;
    if (![BY_CHANGES, NETWORK, OUTSIDE_EFFECT].includes(rule)) return refuse(`a rule cannot answer this: ${reason}`);
    const argv = boundedWords(what);
    if (!argv.ok) return argv;
    const words = argv.value.map(quoted);
    if (words.includes(undefined)) return refuse(`"${what}" cannot be written as a rule`);
    rules.push({ rule: `${tool}(${words.join(' ')})`, covers: `exactly "${what}", as a part of any command` });
  }
  return ok(rules);
}

/** Whether a part needs approval, or would once the rest was allowed: all parts of a command share the network. */
function isQuestion({ what, verdict, rule }: Pick<VerdictPart, 'what' | 'verdict' | 'rule'>): boolean {
  if (verdict === 'ask') return true;
  return rule === BY_CHANGES && !isInert(plainWords(what)?.[0] ?? null);
}

/** Returns a word as a rule reads it; undefined where no rule can contain it. */
function quoted(word: string): string | undefined {
  if (/^[\w@%+=:,./-]+$/.test(word) && !word.endsWith(':*')) return word;
  if (!word.includes("'")) return `'${word}'`;
  return word.includes('"') ? undefined : `"${word}"`;
}

function policyWith(added: readonly Rule[], options: PolicyOptions): ExplainingPolicy {
  return createPolicy({ ...options, rules: [...options.rules, ...added] });
}

/** The words of a command; a refusal where they do not determine what runs. */
function boundedWords(command: string): Result<readonly string[]> {
  const argv = plainWords(command);
  if (argv === undefined) return refuse(`"${command}" is not made of plain words`);
  const open = unboundedReason(argv);
  return open === undefined ? ok(argv) : refuse(open);
}

function refuse(why: string): Result<never> {
  return fail(
    'INVALID_INPUT',
    `This cannot be allowed permanently: ${visible(why).replace(/\.$/, '')}. Allow it once instead.`,
  );
}
