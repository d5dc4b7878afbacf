import { findInlineScripts } from '../../shell/inline-scripts.ts';
import { type InsideReading, MAX_INSIDE_READINGS, readInside, readText } from '../../shell/inside-readings.ts';
import { parseScript } from '../../shell/parse-script.ts';
import { apparentProgram, programName } from '../../shell/program-name.ts';
import { isPrecious, type Surroundings } from '../../shell/resolve-path.ts';
import { riskyAssignment } from '../../shell/risky-environment.ts';
import { differsInPosix } from '../../shell/shells.ts';
import type { SimpleCommand } from '../../shell/simple-command.ts';
import { knownWord, operandsAmong, plainWord, type ShellWord } from '../../shell/words.ts';
import { WorkingFolders } from '../../shell/working-folders.ts';
import type { WrappedCommand } from '../../shell/wrapped-command.ts';
import { innerCommands } from '../../shell/wrappers.ts';
import {
  AMBIGUOUS,
  ASSIGNMENT,
  ask,
  BY_CHANGES,
  type CommandJudgement,
  type CommandPart,
  notUnderstood,
  type RuleAnswer,
  type RuleLookup,
  type Ruling,
  refuse,
} from './command-judgement.ts';
import { judgeInside } from './judge-inside.ts';
import { judgeProgram, type ProgramJudgement } from './judge-program.ts';
import { judgeRedirection } from './judge-redirection.ts';
import { isOrdinaryUse } from './ordinary-use.ts';
import { losesOutside } from './outside-losses.ts';
import { catastrophe, catastrophicScript, isDestroyer } from './refusals/catastrophes.ts';

const NO_COMMAND: Ruling = { verdict: 'allow', rule: BY_CHANGES, reason: 'There is no command in it.' };

/** How deep scripts may nest inside `bash -c`, `eval` and the like. */
const MAX_DEPTH = 5;
/** Commands of a script and of the scripts in it that are judged one by one. */
const MAX_COMMANDS = 1000;
/** Characters of a script and of the scripts in it: a nested script counts at each level. */
const MAX_CHARACTERS = 250_000;

const [MAX_OPTIONS, MAX_OPTION_LENGTH] = [8, 200];
/** Words times the folders from which they are resolved, in the whole script. */
const MAX_LOOKUPS = 100_000;

const NO_RULES: RuleLookup = { find: () => undefined, restricts: () => false };

/**
 * Judges every simple command of a shell script by its words: refusals, rules, secrets that it names and effects outside the workspace.
 * An allow rule counts in a plain script alone. Refusals, ask and deny rules count for every command that the script names anywhere, also
 * for words inside another command. A part that cannot be known before it runs is a question; the caller knows whether it matters.
 */
export function judgeCommand(source: string, where: Surroundings, rules: RuleLookup = NO_RULES): CommandJudgement {
  const parts: CommandPart[] = [];
  /** A part that is repeated is told once. */
  const said = new Set<string>();
  let [read, judged, inside, lookups] = [0, 0, 0, 0];
  /** Whether a plain POSIX shell reads the script, and whether the script around is plain. */
  let [posix, isPlain] = [false, true];
  const folders = new WorkingFolders(where);
  const isWanted = (program: string) => isDestroyer(program) || losesOutside(program) || rules.restricts(program);
  judgeScript(source, 0);
  if (parts.length === 0) add(source, null, NO_COMMAND);
  const { verdict, reason, rule } = worstOf(parts);
  return { verdict, reason, rule, parts };

  function add(text: string, program: string | null, ruling: PartRuling): void {
    const key = `${text}\0${ruling.reason}`;
    if (ruling.verdict !== 'allow' && said.has(key)) return;
    said.add(key);
    parts.push({ text, program, ...ruling });
  }

  function judgeScript(text: string, depth: number): void {
    read += text.length;
    if (read > MAX_CHARACTERS && depth > 0) {
      add(text, null, ask(AMBIGUOUS, 'It nests more scripts than can be checked.'));
      return;
    }
    const around = isPlain;
    const script = parseScript(text);
    isPlain &&= script.isPlain;
    if (posix && differsInPosix(text))
      add(text, null, notUnderstood('It cannot be judged: sh parses it differently from bash.'));
    const whole = catastrophicScript(script, where);
    if (whole !== undefined) add(text, null, refuse(whole));
    for (const problem of script.problems) add(text, null, notUnderstood(`It cannot be judged: ${problem}.`));
    if (depth < MAX_DEPTH) for (const given of findInlineScripts(script)) judgeScript(given, depth + 1);
    const values = [...new Set(script.values.flatMap(({ word }) => word.value ?? []))];
    const mayHoldPrecious = values.some((value) => isPrecious(plainWord(value), folders.all, where));
    for (const command of script.commands) judgeSimple(command, { depth, values, mayHoldPrecious });
    // Read once more as a text: a grammar can be led astray, and words cannot.
    if (!script.isPlain && depth === 0) addInside(text, readText(text, rules.restricts), 'mentioned');
    isPlain = around;
  }

  function judgeSimple({ text, words, redirections, assignments, input }: SimpleCommand, at: ScriptPlace): void {
    for (const redirection of redirections)
      for (const ruling of judgeRedirection(redirection, folders.all, where)) add(text, null, ruling);
    for (const assignment of assignments) {
      const risk = riskyAssignment(assignment, words.length > 0);
      if (risk !== undefined) add(text, null, ask(risk.rule, risk.reason));
      if (words.length > 0)
        addInside(text, readText(assignment.text.slice(assignment.name.length + 1), isWanted), 'here');
    }
    if (words.length > 0) judgeWords(text, words, { ...at, input });
    else if (redirections.length === 0 && assignments.length > 0)
      add(text, null, { verdict: 'allow', rule: ASSIGNMENT, reason: 'It sets a variable.' });
  }

  function judgeWords(text: string, words: readonly ShellWord[], at: CommandPlace): void {
    if (++judged > MAX_COMMANDS) {
      add(text, null, ask(AMBIGUOUS, 'It has more commands than can be checked.'));
      return;
    }
    const [first, ...written] = words;
    const args = withValues(written, at.values);
    const name = first === undefined || knownWord(first) === null ? null : programName(first.value ?? '');
    const ruled = rules.find([name, ...written.map(knownWord)]);
    if (name === null) {
      for (const value of at.values)
        addInside(text, readText([value, ...args.map((word) => word.text)].join(' '), isWanted), 'here');
      add(text, null, ruled ?? notUnderstood('Which program runs is known only at run time.'));
      return;
    }
    const here = foldersFor(text, args.length);
    const danger = catastrophe({ ...at, name: apparentProgram(name) ?? name, args }, here, where);
    if (danger !== undefined) add(text, name, refuse(danger));
    if (ruled?.verdict === 'deny') add(text, name, ruled);
    if (danger !== undefined || ruled?.verdict === 'deny') return;
    const inner = innerCommands(name, written);
    const before = parts.length;
    for (const one of inner) judgeInner(text, one, at);
    if (inner.every(({ kind }) => kind === 'unseen'))
      addInside(text, readInside({ name, args, input: at.input }, isWanted), name);
    if (written.some(isComputed))
      for (const value of at.values.filter((each) => /\s/.test(each))) addInside(text, readText(value, isWanted), name);
    if (ruled?.verdict === 'allow' && isPlain) liftInside(before);
    if (inner.length === 0 || !TRANSPARENT.has(name))
      add(text, name, judgeAlone({ name, args, ruled, isPlain }, here, where));
    else if (ruled?.verdict === 'ask') add(text, name, ruled);
    if (name === 'cd' || name === 'pushd') follow(text, operandsAmong(args)[0]);
  }

  /** A rule for a launcher answers for what it may start, but for what nothing takes back. */
  function liftInside(from: number): void {
    const lifted = (part: CommandPart) => part.isInside && part.isOutside && part.loses === undefined;
    parts.push(...parts.splice(from).filter((part) => !lifted(part)));
  }

  /** `by`: the program with these words in it, `here` for the shell itself, `mentioned` for words that nothing visibly starts. */
  function addInside(text: string, readings: readonly InsideReading[], by: string): void {
    inside += readings.length;
    if (inside > MAX_INSIDE_READINGS)
      add(text, null, ask(AMBIGUOUS, 'It can be read in more ways than can be checked.'));
    const place = { folders: folders.all, where, rules };
    for (const reading of readings.slice(0, MAX_INSIDE_READINGS))
      for (const part of judgeInside(reading, by, place)) add(text, part.program, part);
  }

  function judgeInner(text: string, inner: WrappedCommand, at: CommandPlace): void {
    const { depth } = at;
    if (inner.kind === 'unseen') add(text, null, notUnderstood(`It cannot be judged: ${inner.why}.`));
    else if (depth >= MAX_DEPTH) add(text, null, notUnderstood('It nests too deep to be judged.'));
    else if (inner.kind === 'script') {
      // `eval` and `trap` read it as the shell around them does.
      const outer = posix;
      if (inner.shell !== undefined) posix = inner.shell !== 'bash';
      judgeScript(inner.source, depth + 1);
      posix = outer;
    } else {
      if (inner.folder !== undefined) follow(text, inner.folder);
      const own = inner.words.map((word) => word.text).join(' ');
      judgeWords(own, inner.words, { ...at, depth: depth + 1 });
    }
  }

  /** The folders from which these words are resolved. Where they are too many, the highest one, from which most can be lost. */
  function foldersFor(text: string, words: number): readonly string[] {
    lookups += words * folders.all.length;
    if (lookups <= MAX_LOOKUPS || folders.all.length === 1) return folders.all;
    add(text, null, ask(AMBIGUOUS, 'It names more files from more folders than can be checked.'));
    return folders.all.toSorted((one, other) => one.length - other.length).slice(0, 1);
  }

  function follow(text: string, target: ShellWord | undefined): void {
    const { why } = folders.follow(target);
    if (why !== undefined) add(text, null, notUnderstood(why));
  }
}

/** A ruling with what else is known of the part. */
type PartRuling = Omit<CommandPart, 'text' | 'program'>;

interface ScriptPlace {
  readonly depth: number;
  /** Texts that variables of the script may hold. */
  readonly values: readonly string[];
  readonly mayHoldPrecious: boolean;
}

interface CommandPlace extends ScriptPlace {
  readonly input: string | undefined;
}

/** A command by itself, without the commands that it runs. */
interface LoneCommand {
  readonly name: string;
  readonly args: readonly ShellWord[];
  readonly ruled: RuleAnswer | undefined;
  /** It stands in a plain script. */
  readonly isPlain: boolean;
}

/**
 * Judges a command without the commands that it runs: by itself, then by the rules. A rule can answer a question, but
 * never lifts a refusal; an irreversible loss needs a rule that names the word causing it.
 */
function judgeAlone(
  { name, args, ruled, isPlain }: LoneCommand,
  folders: readonly string[],
  where: Surroundings,
): PartRuling {
  const known = judgeProgram({ name, args }, folders, where);
  const isMeant = known.loses === undefined || ruled?.verdict !== 'allow' || ruled.names?.(known.loses) === true;
  const counts =
    ruled?.verdict !== 'allow' || ((isPlain || ruled.whole) && (ruled.ordinary !== true || isOrdinaryUse(name, args)));
  return ruled === undefined || known.verdict === 'deny' || !counts || !isMeant ? known : byRule(ruled, known);
}

/** Wrappers that add nothing of their own; the verdict about what they run is the whole verdict. */
const TRANSPARENT = new Set(
  'env nohup nice ionice timeout stdbuf time command builtin xargs bash sh dash eval trap setsid'.split(' '),
);

/** Whether a rule for this command has no effect, because only the command behind it is judged. */
export function isTransparent(name: string, args: readonly ShellWord[]): boolean {
  return TRANSPARENT.has(name) && innerCommands(name, args).length > 0;
}

function isComputed({ value, home }: ShellWord): boolean {
  return value === null && !home;
}

/** The words with the options that variables of the script may put in place of a computed one: `X=-rf; rm "$X" a`. */
function withValues(args: readonly ShellWord[], values: readonly string[]): readonly ShellWord[] {
  const options = values
    .filter((value) => value.startsWith('-') && value.length <= MAX_OPTION_LENGTH)
    .slice(0, MAX_OPTIONS)
    .map(plainWord);
  if (options.length === 0 || !args.some(isComputed)) return args;
  const rest = (word: ShellWord) => (options.length === values.length ? [] : [word]);
  return args.flatMap((word) => (isComputed(word) ? [...options, ...rest(word)] : [word]));
}

/** The ruling of a rule about a command, with what is known of the command besides. */
function byRule({ verdict, rule, reason, ordinary }: RuleAnswer, { isOutside }: ProgramJudgement): PartRuling {
  if (verdict !== 'allow') return { verdict, rule, reason };
  return { verdict, rule, reason, allowedBy: ordinary ? 'list' : 'user', ...(isOutside && { isOutside }) };
}

function worstOf(parts: readonly CommandPart[]): CommandPart {
  const by = (answer: CommandPart['verdict']) => parts.find(({ verdict }) => verdict === answer);
  return by('deny') ?? by('ask') ?? (parts[0] as CommandPart);
}
