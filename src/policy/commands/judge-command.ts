import { findInlineScripts } from '../../shell/inline-scripts.ts';
import { parseScript, type SimpleCommand } from '../../shell/parse-script.ts';
import { apparentProgram, programName } from '../../shell/program-name.ts';
import type { Surroundings } from '../../shell/resolve-path.ts';
import { riskyAssignment, scriptInAssignment } from '../../shell/risky-environment.ts';
import { differsInPosix } from '../../shell/shells.ts';
import { Variables } from '../../shell/variables.ts';
import { operandsAmong, type ShellWord } from '../../shell/words.ts';
import { WorkingFolders } from '../../shell/working-folders.ts';
import { type GuessedCommand, guessScript, type WrappedCommand } from '../../shell/wrapped-command.ts';
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
import { judgeProgram, type ProgramJudgement } from './judge-program.ts';
import { judgeRedirection, writesFile } from './judge-redirection.ts';
import { isOrdinaryUse } from './ordinary-use.ts';
import { catastrophe, catastrophicScript } from './refusals/catastrophes.ts';
import { weighGuess } from './weigh-guess.ts';

const NO_COMMAND: Ruling = { verdict: 'allow', rule: BY_CHANGES, reason: 'There is no command in it.' };

/** How deep scripts may nest inside `bash -c`, `eval` and the like. */
const MAX_DEPTH = 5;
/** How many readings of launchers inside launchers are judged. */
const MAX_GUESSES = 64;
/** Words times the folders from which they are resolved, in the whole script. */
const MAX_LOOKUPS = 100_000;
/** Characters of a script and of the scripts in it: a nested script counts at each level. */
const MAX_CHARACTERS = 250_000;

/**
 * Judges every simple command of a shell script by its words, in every construct and behind every wrapper: refusals, rules,
 * secrets that it names and effects outside the workspace. The script is allowed only if all of them are: deny beats ask beats
 * allow. A part that cannot be known before it runs is a question; the caller knows whether it matters.
 */
export function judgeCommand(
  source: string,
  where: Surroundings,
  rules: RuleLookup = () => undefined,
): CommandJudgement {
  const parts: CommandPart[] = [];
  let redirects = false;
  let guesses = 0;
  let [lookups, read, optionCharacters] = [0, 0, 0];
  /** Whether a plain POSIX shell reads the script. */
  let posix = false;
  const folders = new WorkingFolders(where);
  const variables = new Variables(where, folders.all);
  judgeScript(source, 0);
  if (parts.length === 0) add(source, null, NO_COMMAND);
  const { verdict, reason, rule } = worstOf(parts);
  return { verdict, reason, rule, parts, redirects };

  function add(text: string, program: string | null, ruling: PartRuling): void {
    parts.push({ text, program, ...ruling });
  }

  function judgeScript(text: string, depth: number): void {
    read += text.length;
    if (read > MAX_CHARACTERS && depth > 0) {
      add(text, null, ask(AMBIGUOUS, 'It nests more scripts than can be checked.'));
      return;
    }
    const script = parseScript(text);
    if (posix && differsInPosix(text))
      add(text, null, notUnderstood('It cannot be judged: sh parses it differently from bash.'));
    const whole = catastrophicScript(script, where);
    if (whole !== undefined) add(text, null, refuse(whole));
    for (const problem of script.problems) add(text, null, notUnderstood(`It cannot be judged: ${problem}.`));
    for (const given of depth < MAX_DEPTH ? findInlineScripts(script) : []) judgeInner(text, given, depth);
    variables.learn(script.values);
    let before = folders.all.length;
    for (const command of script.commands) judgeSimple(command, depth);
    const repeated = script.commands.filter(({ repeats }) => repeats);
    if (repeated.length === 0 || folders.all.length === before) return;
    const said = new Set(parts.map(keyOf));
    while (folders.all.length > before) {
      before = folders.all.length;
      judgeAgain(repeated, said, depth);
    }
  }

  /** Judges again commands before a `cd` in a loop or a trap, which also run after it. Known parts are not repeated. */
  function judgeAgain(commands: readonly SimpleCommand[], said: Set<string>, depth: number): void {
    const known = parts.length;
    for (const command of commands) judgeSimple(command, depth);
    for (const part of parts.splice(known)) {
      if (part.verdict === 'allow' || said.has(keyOf(part))) continue;
      said.add(keyOf(part));
      parts.push(part);
    }
  }

  function judgeSimple({ text, words, redirections, assignments }: SimpleCommand, depth: number): void {
    for (const redirection of redirections) {
      redirects ||= writesFile(redirection);
      for (const ruling of judgeRedirection(redirection, foldersFor(text, 1), where)) add(text, null, ruling);
    }
    for (const assignment of assignments) {
      const risk = riskyAssignment(assignment, words.length > 0);
      if (risk !== undefined) add(text, null, ask(risk.rule, risk.reason));
      const script = scriptInAssignment(assignment);
      if (script !== undefined) judgeInner(text, guessScript(script), depth);
    }
    if (words.length > 0) judgeWords(text, words, depth);
    else if (redirections.length === 0 && assignments.length > 0)
      add(text, null, { verdict: 'allow', rule: ASSIGNMENT, reason: 'It sets a variable.' });
  }

  function judgeWords(text: string, words: readonly ShellWord[], depth: number): void {
    const [first, ...args] = words;
    const name = first === undefined || knownWord(first) === null ? null : programName(first.value ?? '');
    const ruled = rules([name, ...args.map(knownWord)]);
    if (name === null) {
      for (const value of variables.textsOf(words[0]))
        judgeInner(text, guessScript([value, ...args.map((word) => word.text)].join(' ')), depth);
      add(text, null, ruled ?? notUnderstood('Which program runs is known only at run time.'));
      return;
    }
    const seeming = apparentProgram(name);
    if (seeming !== undefined)
      judgeInner(text, guessScript([seeming, ...args.map((word) => word.text)].join(' ')), depth);
    const told = variables.withOptions(words);
    if (told !== undefined) judgeWithVariables(text, told, depth);
    const here = foldersFor(text, args.length);
    const danger = catastrophe(name, args, here, where, variables);
    if (danger !== undefined) add(text, name, refuse(danger));
    if (ruled?.verdict === 'deny') add(text, name, ruled);
    if (danger !== undefined || ruled?.verdict === 'deny') return;
    const inner = innerCommands(name, args);
    const before = parts.length;
    for (const one of inner) judgeInner(text, one, depth);
    if (ruled?.verdict === 'allow') liftGuesses(before);
    if (inner.length === 0 || !TRANSPARENT.has(name)) judgeAlone(text, { name, args, here, ruled });
    else if (ruled?.verdict === 'ask') add(text, name, ruled);
    if (name === 'cd' || name === 'pushd') follow(text, operandsAmong(args)[0]);
  }

  /** A rule for a launcher answers for what it may start, but for what nothing takes back. */
  function liftGuesses(from: number): void {
    const lifted = (part: CommandPart) => part.isGuess && part.isOutside && part.loses === undefined;
    parts.push(...parts.splice(from).filter((part) => !lifted(part)));
  }

  function judgeInner(text: string, inner: WrappedCommand, depth: number): void {
    if (isGuess(inner)) judgeGuess(text, inner, depth);
    else judgeKnown(text, inner, depth);
  }

  function judgeGuess(text: string, inner: GuessedCommand, depth: number): void {
    if (guesses === MAX_GUESSES) return;
    if (++guesses === MAX_GUESSES || lookups > MAX_LOOKUPS) {
      guesses = MAX_GUESSES;
      add(text, null, ask(AMBIGUOUS, 'It can be read in more ways than can be checked.'));
      return;
    }
    judgeReading(text, inner, depth);
  }

  /** Judges the command with the options that its variables may contain. */
  function judgeWithVariables(text: string, words: readonly ShellWord[], depth: number): void {
    optionCharacters += words.reduce((sum, word) => sum + word.text.length, 0);
    if (optionCharacters <= MAX_CHARACTERS) judgeReading(text, { kind: 'words', words, guess: 'here' }, depth);
    else add(text, null, ask(AMBIGUOUS, 'Its variables may hold more options than can be checked.'));
  }

  /** Judges one of several readings of a command: only its refusals and unusual questions count. */
  function judgeReading(text: string, inner: GuessedCommand, depth: number): void {
    const before = parts.length;
    const here = folders.all;
    judgeKnown(text, inner, depth);
    if (inner.guess === 'elsewhere') folders.returnTo(here);
    parts.push(...weighGuess(parts.splice(before), inner.guess));
  }

  function judgeKnown(text: string, inner: WrappedCommand, depth: number): void {
    if (inner.kind === 'unseen') add(text, null, notUnderstood(`It cannot be judged: ${inner.why}.`));
    else if (depth >= MAX_DEPTH) add(text, null, notUnderstood('It nests too deep to be judged.'));
    else if (inner.kind === 'script') judgeText(inner, depth + 1);
    else judgeIn(inner.folder, text, inner.words, depth + 1);
  }

  /** Judges a nested script. `eval` and `trap` read it as the shell around them does. */
  function judgeText({ source, shell }: Extract<WrappedCommand, { kind: 'script' }>, depth: number): void {
    const outer = posix;
    if (shell !== undefined) posix = shell !== 'bash';
    judgeScript(source, depth);
    posix = outer;
  }

  function judgeIn(folder: ShellWord | undefined, text: string, words: readonly ShellWord[], depth: number): void {
    if (folder !== undefined) follow(text, folder);
    judgeWords(words.map((word) => word.text).join(' '), words, depth);
  }

  /**
   * Judges a command without the commands that it runs: by itself, then by the rules. A rule can answer a question, but
   * never lifts a refusal; an irreversible loss needs a rule that names the word causing it.
   */
  function judgeAlone(text: string, { name, args, here, ruled }: LoneCommand): void {
    const known = judgeProgram({ name, args }, here, where);
    const isMeant = known.loses === undefined || ruled?.verdict !== 'allow' || ruled.names?.(known.loses) === true;
    const counts = ruled?.ordinary !== true || isOrdinaryUse(name, args);
    const isOwn = ruled === undefined || known.verdict === 'deny' || !counts || !isMeant;
    add(text, name, isOwn ? known : byRule(ruled, known));
  }

  /** The folders from which these words are resolved. Where they are too many, the highest ones, from which most can be lost. */
  function foldersFor(text: string, words: number): readonly string[] {
    const left = MAX_LOOKUPS - lookups;
    lookups += words * folders.all.length;
    if (lookups <= MAX_LOOKUPS || folders.all.length === 1) return folders.all;
    add(text, null, ask(AMBIGUOUS, 'It names more files from more folders than can be checked.'));
    const highest = folders.all.toSorted((one, other) => one.length - other.length);
    return highest.slice(0, Math.max(1, Math.floor(left / words)));
  }

  function follow(text: string, target: ShellWord | undefined): void {
    const { fresh, why } = folders.follow(target);
    variables.enter(fresh);
    if (why !== undefined) add(text, null, notUnderstood(why));
  }
}

function isGuess(inner: WrappedCommand): inner is GuessedCommand {
  return inner.kind !== 'unseen' && inner.guess !== undefined;
}

/** A ruling with what else is known of the part. */
type PartRuling = Omit<CommandPart, 'text' | 'program'>;

/** A command by itself, without the commands that it runs. */
interface LoneCommand {
  readonly name: string;
  readonly args: readonly ShellWord[];
  /** The folders it may run in. */
  readonly here: readonly string[];
  readonly ruled: RuleAnswer | undefined;
}

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

/** Whether a rule for this command has no effect, because only the command behind it is judged. */
export function isTransparent(name: string, args: readonly ShellWord[]): boolean {
  return TRANSPARENT.has(name) && innerCommands(name, args).length > 0;
}

/** The ruling of a rule about a command, with what is known of the command besides. */
function byRule({ verdict, rule, reason, ordinary }: RuleAnswer, { isOutside }: ProgramJudgement): PartRuling {
  if (verdict !== 'allow') return { verdict, rule, reason };
  return { verdict, rule, reason, allowedBy: ordinary ? 'list' : 'user', ...(isOutside && { isOutside }) };
}

/** Null for a pattern, since it becomes the files that it matches. */
function knownWord({ value, pattern }: ShellWord): string | null {
  return pattern ? null : value;
}

function keyOf({ text, reason }: CommandPart): string {
  return `${text}\0${reason}`;
}

function worstOf(parts: readonly CommandPart[]): CommandPart {
  const by = (answer: CommandPart['verdict']) => parts.find(({ verdict }) => verdict === answer);
  return by('deny') ?? by('ask') ?? (parts[0] as CommandPart);
}
