import { posix } from 'node:path';
import { catastrophe, catastrophicScript, catastrophicTarget, destroysUnknown } from './catastrophes.ts';
import { riskyAssignment, scriptIn } from './environment.ts';
import { Folders } from './folders.ts';
import { type Inner, type Loose, loosely } from './inner.ts';
import { emptied, irreversible } from './irreversible.ts';
import { isOrdinaryUse } from './ordinary-use.ts';
import { placesOf, type Surroundings, sensitive } from './places.ts';
import { readOnlyUse } from './read-only.ts';
import type { ReadOnlyUse } from './read-only-use.ts';
import { scriptsGiven } from './scripts-given.ts';
import { parseScript, type Redirection, type SimpleCommand } from './shell-script.ts';
import type { ShellWord } from './shell-words.ts';
import { Variables } from './variables.ts';
import { innerCommands } from './wrappers.ts';

export type Answer = 'allow' | 'ask' | 'deny';

/** One simple command of a script and what was decided about it. */
export interface CommandPart {
  readonly text: string;
  /** Command and arguments with quotes removed; null where anything is computed at run time. */
  readonly argv: readonly string[] | null;
  readonly verdict: Answer;
  readonly reason: string;
  readonly rule: string;
}

export interface CommandJudgement {
  readonly verdict: Answer;
  readonly reason: string;
  readonly rule: string;
  readonly parts: readonly CommandPart[];
  /** True when every part is known to only read, so that it can run where nothing can be written. */
  readonly readOnly: boolean;
}

/** What the rules say of a simple command, by its words; null for a word that is known only at run time. */
export type RuleLookup = (words: readonly (string | null)[]) => RuleAnswer | undefined;

export interface RuleAnswer {
  readonly verdict: Answer;
  readonly rule: string;
  readonly reason: string;
  /** An allow that counts only for ordinary uses of the command. */
  readonly ordinary?: boolean;
  /** Whether an allow says this word itself, and not by a `*`. */
  names?(word: string): boolean;
}

/** How deep scripts may nest inside `bash -c`, `eval` and their kin before nobody can follow them. */
const DEEPEST = 5;
/** Ways to read launchers inside launchers that are looked at. */
const MOST_GUESSES = 64;

/**
 * Judges every simple command of a shell script, in every construct and behind every wrapper. The script is allowed
 * only if all of them are: deny beats ask beats allow. What cannot be known before it runs is asked about.
 */
export function judgeCommand(
  source: string,
  where: Surroundings,
  rules: RuleLookup = () => undefined,
): CommandJudgement {
  const parts: CommandPart[] = [];
  let readOnly = true;
  let guesses = 0;
  const folders = new Folders(where);
  const variables = new Variables(where, folders.all);
  judgeScript(source, 0);
  if (parts.length === 0) add(source, null, 'ask', 'empty', 'There is no command in it.');
  const { verdict, reason, rule } = worstOf(parts);
  return { verdict, reason, rule, parts, readOnly: readOnly && verdict === 'allow' };

  function add(text: string, argv: readonly string[] | null, verdict: Answer, rule: string, reason: string): void {
    if (verdict !== 'allow') readOnly = false;
    parts.push({ text, argv, verdict, reason, rule });
  }

  function judgeScript(text: string, depth: number): void {
    const script = parseScript(text);
    const whole = catastrophicScript(script, where);
    if (whole !== undefined) add(text, null, 'deny', CATASTROPHE, refusal(whole));
    for (const problem of script.problems) add(text, null, 'ask', 'not understood', `It cannot be judged: ${problem}.`);
    for (const given of depth < DEEPEST ? scriptsGiven(script) : []) judgeInner(text, given, depth);
    variables.learn(script.values);
    for (const command of script.commands) judgeSimple(command, depth);
  }

  function judgeSimple(command: SimpleCommand, depth: number): void {
    for (const redirection of command.redirections) judgeRedirection(command, redirection);
    for (const assignment of command.assignments) {
      const risk = riskyAssignment(assignment, command.words.length > 0);
      if (risk !== undefined) add(command.text, null, 'ask', risk.rule, risk.reason);
      const script = scriptIn(assignment);
      if (script !== undefined) judgeInner(command.text, loosely(script), depth);
    }
    if (command.words.length > 0) judgeWords(command.text, command.words, depth);
    else if (command.redirections.length === 0 && command.assignments.length > 0)
      add(command.text, null, 'allow', READ_ONLY, 'It sets a variable.');
  }

  function judgeWords(text: string, words: readonly ShellWord[], depth: number): void {
    const [first, ...args] = words;
    const name = first === undefined || knownWord(first) === null ? null : programName(first.value ?? '');
    const ruled = rules([name, ...args.map(knownWord)]);
    if (name === null) {
      for (const value of variables.textsOf(words[0]))
        judgeInner(text, loosely([value, ...args.map((word) => word.text)].join(' ')), depth);
      if (ruled !== undefined) add(text, null, ruled.verdict, ruled.rule, ruled.reason);
      else add(text, null, 'ask', 'not understood', 'Which program runs is known only at run time.');
      return;
    }
    const argv = argvOf(name, args);
    const danger = catastrophe(name, args, folders.all, where, variables);
    if (danger !== undefined) add(text, argv, 'deny', CATASTROPHE, refusal(danger));
    if (ruled?.verdict === 'deny') add(text, argv, 'deny', ruled.rule, ruled.reason);
    if (danger !== undefined || ruled?.verdict === 'deny') return;
    const inner = innerCommands(name, args);
    for (const one of inner) judgeInner(text, one, depth);
    if (inner.length === 0 || !TRANSPARENT.has(name)) judgeAlone(text, name, args, argv, ruled);
    else if (ruled?.verdict === 'ask') add(text, argv, 'ask', ruled.rule, ruled.reason);
    if (name === 'cd' || name === 'pushd') follow(text, args.find(isOperand));
  }

  /** Of one way among several to read a command only this counts: what no reading of it may do. */
  function judgeGuess(text: string, inner: Inner, loose: Loose, depth: number): void {
    if (guesses === MOST_GUESSES) return;
    if (++guesses === MOST_GUESSES) {
      add(text, null, 'ask', 'ambiguous', 'It can be read in more ways than anybody looks at.');
      return;
    }
    const before = parts.length;
    const onlyRead = readOnly;
    const here = folders.all;
    judgeKnown(text, inner, depth);
    if (loose === 'elsewhere') folders.returnTo(here);
    const held = parts
      .splice(before)
      .filter(isHeldBack)
      .flatMap((part) => weighed(part, loose));
    parts.push(...held);
    readOnly = onlyRead && held.length === 0;
  }

  function judgeInner(text: string, inner: Inner, depth: number): void {
    if (inner.kind !== 'unseen' && inner.loose) judgeGuess(text, inner, inner.loose, depth);
    else judgeKnown(text, inner, depth);
  }

  function judgeKnown(text: string, inner: Inner, depth: number): void {
    if (inner.kind === 'unseen') add(text, null, 'ask', 'not understood', `It cannot be judged: ${inner.why}.`);
    else if (depth >= DEEPEST) add(text, null, 'ask', 'not understood', 'It nests too deep to be judged.');
    else if (inner.kind === 'script') judgeScript(inner.source, depth + 1);
    else judgeIn(inner.folder, text, inner.words, depth + 1);
  }

  function judgeIn(folder: ShellWord | undefined, text: string, words: readonly ShellWord[], depth: number): void {
    if (folder !== undefined) follow(text, folder);
    judgeWords(words.map((word) => word.text).join(' '), words, depth);
  }

  /**
   * What is known of the command, then what a rule says of it. A rule lifts a question, never a refusal; and where nothing
   * brings back what is lost, only a rule that names what loses it.
   */
  function judgeAlone(
    text: string,
    name: string,
    args: readonly ShellWord[],
    argv: readonly string[] | null,
    ruled: RuleAnswer | undefined,
  ): void {
    const known = knowledgeOf(name, args);
    if (known.rule !== READ_ONLY) readOnly = false;
    const isMeant = known.loses === undefined || ruled?.verdict !== 'allow' || ruled.names?.(known.loses) === true;
    const counts = ruled?.ordinary !== true || known.rule === READ_ONLY || isOrdinaryUse(name, args);
    const { verdict, rule, reason } = known.verdict === 'deny' || !counts || !isMeant ? known : (ruled ?? known);
    add(text, argv, verdict, rule, reason);
  }

  function knowledgeOf(name: string, args: readonly ShellWord[]): Objection {
    const answer = readOnlyUse(name, args);
    if (!('why' in answer)) return reading(name, answer) ?? objection('allow', READ_ONLY, `${name} only reads.`);
    const secret = args.find((word) => !word.pattern && sensitive(word, folders.all, where) !== undefined);
    if (secret !== undefined)
      return objection('deny', SENSITIVE, `${secret.text} cannot be used: ${sensitive(secret, folders.all, where)}.`);
    if (destroysUnknown(name, args))
      return objection('ask', 'not understood', `What ${name} would take away is known only at run time.`);
    const loss = irreversible(name, args) ?? emptied(name, args, folders.all, where);
    if (loss === undefined) return objection('ask', 'not read-only', `${answer.why}.`);
    return { ...objection('ask', 'irreversible', loss.why), loses: loss.word };
  }

  /** Files it opens meet the file policy; files it only looks at must merely be inside. */
  function reading(name: string, { content, named, roams = false }: ReadOnlyUse): Objection | undefined {
    if (where.masked === false && (roams || content.some(({ pattern }) => pattern)))
      return objection('ask', SENSITIVE, 'Without a sandbox nothing hides sensitive files from what it comes across.');
    for (const word of content) {
      const secret = sensitive(word, folders.all, where);
      if (secret === undefined) continue;
      // Masks cover the working tree, not the history; and a pattern may match what is masked or what is not.
      if (name === 'git') return objection('ask', SENSITIVE, `The history may hold ${word.text}: ${secret}.`);
      if (word.pattern) return objection('ask', SENSITIVE, `${word.text} may match a sensitive file: ${secret}.`);
      return objection(
        'deny',
        SENSITIVE,
        `${word.text} cannot be read: ${secret}. A user can lift that in the configuration.`,
      );
    }
    for (const word of [...content, ...named]) {
      for (const place of placesOf(word, folders.all, where)) {
        if (place.kind === 'computed')
          return objection('ask', 'not understood', `What ${word.text} names is known only at run time.`);
        if (place.kind === 'outside' && !READABLE.test(place.path)) return outside(word);
      }
    }
    return undefined;
  }

  function judgeRedirection({ text }: SimpleCommand, { opens, target }: Redirection): void {
    const device = opens === 'write' ? catastrophicTarget(target) : undefined;
    if (device !== undefined) {
      add(text, null, 'deny', CATASTROPHE, refusal(device));
      return;
    }
    for (const place of placesOf(target, folders.all, where)) {
      if (place.kind === 'computed')
        add(text, null, 'ask', 'redirection', `Where ${target.text} leads is known only at run time.`);
      if (place.kind === 'outside') redirectedOutside(text, opens, target);
      if (place.kind === 'inside') redirectedInside(text, opens, target, place.path);
    }
  }

  function redirectedOutside(text: string, opens: Redirection['opens'], target: ShellWord): void {
    if (opens === 'read') {
      add(text, null, 'ask', OUTSIDE, `It reads ${target.text}, which is outside the workspace.`);
      return;
    }
    add(
      text,
      null,
      'deny',
      OUTSIDE,
      `It would write to ${target.text}, which is outside the workspace. Write inside it.`,
    );
  }

  function redirectedInside(text: string, opens: Redirection['opens'], target: ShellWord, path: string): void {
    const { access, rule } = where.files.judge(path);
    if (access === 'hidden')
      add(text, null, 'deny', SENSITIVE, `${target.text} cannot be used: ${rule?.reason ?? 'it is sensitive'}.`);
    else if (opens === 'write') add(text, null, 'ask', 'redirection', `It writes ${target.text}.`);
  }

  function follow(text: string, target: ShellWord | undefined): void {
    const { fresh, why } = folders.follow(target);
    variables.enter(fresh);
    if (why !== undefined) add(text, null, 'ask', 'not understood', why);
  }
}

/** The rule behind a part that runs unasked because it is known to change nothing. */
export const READ_ONLY = 'read-only command';
const SENSITIVE = 'sensitive file';
const CATASTROPHE = 'catastrophic command';
const OUTSIDE = 'outside the workspace';

/** Wrappers that add nothing of their own; the verdict about what they run is the whole verdict. */
const TRANSPARENT = new Set([
  'env',
  'nohup',
  'nice',
  'ionice',
  'timeout',
  'stdbuf',
  'time',
  'command',
  'builtin',
  'xargs',
  'bash',
  'sh',
  'dash',
  'eval',
  'trap',
  'setsid',
]);

/** Whether a rule for this command says nothing, because only the command behind it is judged. */
export function isSeenThrough(name: string, args: readonly ShellWord[]): boolean {
  return TRANSPARENT.has(name) && innerCommands(name, args).length > 0;
}

function isHeldBack({ verdict, rule }: CommandPart): boolean {
  return verdict === 'deny' || (verdict === 'ask' && !ORDINARY_QUESTIONS.includes(rule));
}

/** What is held back in a guess, by where it would happen: paths elsewhere are none of ours, and a text need not run. */
function weighed(part: CommandPart, loose: Loose): CommandPart[] {
  const why = part.reason.replace(REFUSED, '');
  if (loose === 'mentioned') return [{ ...part, verdict: 'ask', reason: `If the text in it is run: ${why}` }];
  if (loose !== 'elsewhere') return [part];
  if (part.rule === SENSITIVE || part.rule === OUTSIDE) return [];
  if (part.rule !== CATASTROPHE || !NAMES_A_PLACE.test(why)) return [part];
  return [{ ...part, verdict: 'ask', reason: `On another machine or in a container: ${why}` }];
}

const ORDINARY_QUESTIONS = ['not read-only', 'redirection', 'environment', 'not understood'];

/** System files that hold nothing of the user: commands may read them unasked. */
const READABLE =
  /^\/(usr|bin|sbin|lib|lib64|etc\/(os-release|debian_version|lsb-release|hosts|resolv\.conf|timezone|localtime))(\/|$)|^\/proc\/(cpuinfo|meminfo|version|loadavg|uptime|self\/status)$/;

const SYSTEM_FOLDERS = /^\/(usr\/(local\/)?)?s?bin\/([^/]+)$/;

/** `/usr/bin/ls` is `ls`; any other path is itself, and so known to nobody. */
export function programName(word: string): string {
  return SYSTEM_FOLDERS.exec(word.startsWith('/') ? posix.normalize(word) : word)?.[3] ?? word;
}

/** A pattern becomes the files that it matches. */
function knownWord({ value, pattern }: ShellWord): string | null {
  return pattern ? null : value;
}

function isOperand({ text }: ShellWord): boolean {
  return text === '-' || !text.startsWith('-');
}

function argvOf(name: string, args: readonly ShellWord[]): readonly string[] | null {
  const values = args.map(({ value }) => value);
  return values.includes(null) ? null : [name, ...(values as string[])];
}

function worstOf(parts: readonly CommandPart[]): CommandPart {
  const by = (answer: Answer) => parts.find(({ verdict }) => verdict === answer);
  return by('deny') ?? by('ask') ?? (parts[0] as CommandPart);
}

interface Objection {
  verdict: Answer;
  rule: string;
  reason: string;
  /** The word with which it takes away what nothing brings back. */
  loses?: string;
}

function objection(verdict: Answer, rule: string, reason: string): Objection {
  return { verdict, rule, reason };
}

function outside(word: ShellWord): Objection {
  return objection('ask', OUTSIDE, `It reads ${word.text}, which is outside the workspace.`);
}

function refusal(why: string): string {
  return `${REFUSED}${why}.`;
}

const REFUSED = 'Refused for safety: ';
/** Further down than a folder of the root: elsewhere that may be anybody's, while all of a machine is lost on any. */
const NAMES_A_PLACE = /(^|\s)\/[^\s/]+\/[^\s]/;
