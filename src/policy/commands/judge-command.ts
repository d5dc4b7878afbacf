import { catastrophe, catastrophicScript } from './refusals/catastrophes.ts';
import {
  ask,
  type CommandJudgement,
  type CommandPart,
  notUnderstood,
  READ_ONLY,
  type RuleAnswer,
  type RuleLookup,
  type Ruling,
  refuse,
} from './command-judgement.ts';
import { riskyAssignment, scriptIn } from '../../shell/risky-environment.ts';
import { Folders } from '../../shell/working-folders.ts';
import { heldBack } from './weigh-guess.ts';
import { type Inner, type Loose, loosely } from './inner.ts';
import { isReopened, judgeRedirection, movesDescriptors } from './judge-redirection.ts';
import { isOrdinaryUse } from './ordinary-use.ts';
import type { Surroundings } from '../../shell/resolve-path.ts';
import { programName, programSeeming } from '../../shell/program-name.ts';
import { scriptsGiven } from '../../shell/inline-scripts.ts';
import { parseScript, type SimpleCommand } from '../../shell/parse-script.ts';
import { operandsAmong, type ShellWord } from '../../shell/words.ts';
import { isReadOtherwise } from '../../shell/shells.ts';
import { Variables } from '../../shell/variables.ts';
import { whatIsKnown } from './what-is-known.ts';
import { innerCommands } from '../../shell/wrappers.ts';

/** How deep scripts may nest inside `bash -c`, `eval` and their kin before nobody can follow them. */
const DEEPEST = 5;
/** Ways to read launchers inside launchers that are looked at. */
const MOST_GUESSES = 64;
/** Words times the folders that they are looked up from, in all that a script holds. */
const MOST_LOOKUPS = 100_000;
/** Characters of a script and of those in it: one in another counts in each. */
const MOST_READ = 250_000;

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
  /** Whether what a descriptor leads to may be anything by now. */
  let isMoved = false;
  let lookups = 0;
  let read = 0;
  let toldCharacters = 0;
  /** Whether a shell with the words of POSIX alone reads it. */
  let posix = false;
  const folders = new Folders(where);
  const variables = new Variables(where, folders.all);
  judgeScript(source, 0);
  if (parts.length === 0) add(source, null, ask('empty', 'There is no command in it.'));
  const { verdict, reason, rule } = worstOf(parts);
  return { verdict, reason, rule, parts, readOnly: readOnly && verdict === 'allow' };

  function add(text: string, program: string | null, { verdict, reason, rule }: Ruling): void {
    if (verdict !== 'allow') readOnly = false;
    parts.push({ text, program, verdict, reason, rule });
  }

  function judgeScript(text: string, depth: number): void {
    read += text.length;
    if (read > MOST_READ && depth > 0) {
      add(text, null, ask(AMBIGUOUS, 'It holds more scripts in each other than anybody looks at.'));
      return;
    }
    const script = parseScript(text);
    isMoved ||= movesDescriptors(text);
    if (posix && isReadOtherwise(text))
      add(text, null, notUnderstood('It cannot be judged: sh reads it in its own way.'));
    const whole = catastrophicScript(script, where);
    if (whole !== undefined) add(text, null, refuse(whole));
    for (const problem of script.problems) add(text, null, notUnderstood(`It cannot be judged: ${problem}.`));
    for (const given of depth < DEEPEST ? scriptsGiven(script) : []) judgeInner(text, given, depth);
    variables.learn(script.values);
    let before = folders.all.length;
    for (const command of script.commands) judgeSimple(command, depth);
    const repeated = script.commands.filter(({ repeats }) => repeats);
    if (repeated.length === 0 || folders.all.length === before) return;
    const said = new Set(parts.map(sayingOf));
    while (folders.all.length > before) {
      before = folders.all.length;
      judgeAgain(repeated, said, depth);
    }
  }

  /** What stands before a `cd` in a loop, or in a trap, also runs behind it. What is said already is not said again. */
  function judgeAgain(commands: readonly SimpleCommand[], said: Set<string>, depth: number): void {
    const known = parts.length;
    for (const command of commands) judgeSimple(command, depth);
    for (const part of parts.splice(known)) {
      if (part.verdict === 'allow' || said.has(sayingOf(part))) continue;
      said.add(sayingOf(part));
      parts.push(part);
    }
  }

  function judgeSimple({ text, words, redirections, assignments }: SimpleCommand, depth: number): void {
    for (const redirection of redirections) {
      if (isReopened(redirection, isMoved))
        add(text, null, ask('redirection', `It writes ${redirection.target.text}.`));
      for (const ruling of judgeRedirection(redirection, foldersFor(text, 1), where)) add(text, null, ruling);
    }
    for (const assignment of assignments) {
      const risk = riskyAssignment(assignment, words.length > 0);
      if (risk !== undefined) add(text, null, ask(risk.rule, risk.reason));
      const script = scriptIn(assignment);
      if (script !== undefined) judgeInner(text, loosely(script), depth);
    }
    if (words.length > 0) judgeWords(text, words, depth);
    else if (redirections.length === 0 && assignments.length > 0)
      add(text, null, { verdict: 'allow', rule: READ_ONLY, reason: 'It sets a variable.' });
  }

  function judgeWords(text: string, words: readonly ShellWord[], depth: number): void {
    const [first, ...args] = words;
    const name = first === undefined || knownWord(first) === null ? null : programName(first.value ?? '');
    const ruled = rules([name, ...args.map(knownWord)]);
    if (name === null) {
      for (const value of variables.textsOf(words[0]))
        judgeInner(text, loosely([value, ...args.map((word) => word.text)].join(' ')), depth);
      add(text, null, ruled ?? notUnderstood('Which program runs is known only at run time.'));
      return;
    }
    const seeming = programSeeming(name);
    if (seeming !== undefined) judgeInner(text, loosely([seeming, ...args.map((word) => word.text)].join(' ')), depth);
    const told = variables.withOptions(words);
    if (told !== undefined) judgeTold(text, told, depth);
    const here = foldersFor(text, args.length);
    const danger = catastrophe(name, args, here, where, variables);
    if (danger !== undefined) add(text, name, refuse(danger));
    if (ruled?.verdict === 'deny') add(text, name, ruled);
    if (danger !== undefined || ruled?.verdict === 'deny') return;
    const inner = innerCommands(name, args);
    for (const one of inner) judgeInner(text, one, depth);
    if (inner.length === 0 || !TRANSPARENT.has(name)) judgeAlone(text, { name, args, here, ruled });
    else if (ruled?.verdict === 'ask') add(text, name, ruled);
    if (name === 'cd' || name === 'pushd') follow(text, operandsAmong(args)[0]);
  }

  function judgeInner(text: string, inner: Inner, depth: number): void {
    if (inner.kind !== 'unseen' && inner.loose) judgeGuess(text, inner, inner.loose, depth);
    else judgeKnown(text, inner, depth);
  }

  function judgeGuess(text: string, inner: Inner, loose: Loose, depth: number): void {
    if (guesses === MOST_GUESSES) return;
    if (++guesses === MOST_GUESSES || lookups > MOST_LOOKUPS) {
      guesses = MOST_GUESSES;
      add(text, null, ask(AMBIGUOUS, 'It can be read in more ways than anybody looks at.'));
      return;
    }
    judgeLoosely(text, inner, loose, depth);
  }

  /** With the options that its variables may hold. */
  function judgeTold(text: string, words: readonly ShellWord[], depth: number): void {
    toldCharacters += words.reduce((sum, word) => sum + word.text.length, 0);
    if (toldCharacters <= MOST_READ) judgeLoosely(text, { kind: 'words', words }, true, depth);
    else add(text, null, ask(AMBIGUOUS, 'Its variables may hold more options than anybody looks at.'));
  }

  /** Of one way among several to read a command, only what is held back counts. */
  function judgeLoosely(text: string, inner: Inner, loose: Loose, depth: number): void {
    const before = parts.length;
    const onlyRead = readOnly;
    const here = folders.all;
    judgeKnown(text, inner, depth);
    if (loose === 'elsewhere') folders.returnTo(here);
    const held = heldBack(parts.splice(before), loose);
    parts.push(...held);
    readOnly = onlyRead && held.length === 0;
  }

  function judgeKnown(text: string, inner: Inner, depth: number): void {
    if (inner.kind === 'unseen') add(text, null, notUnderstood(`It cannot be judged: ${inner.why}.`));
    else if (depth >= DEEPEST) add(text, null, notUnderstood('It nests too deep to be judged.'));
    else if (inner.kind === 'script') judgeText(inner, depth + 1);
    else judgeIn(inner.folder, text, inner.words, depth + 1);
  }

  /** `eval` and `trap` read it as the shell does in which they stand. */
  function judgeText({ source, shell }: Extract<Inner, { kind: 'script' }>, depth: number): void {
    const outer = posix;
    if (shell !== undefined) posix = shell !== 'bash';
    judgeScript(source, depth);
    posix = outer;
  }

  function judgeIn(folder: ShellWord | undefined, text: string, words: readonly ShellWord[], depth: number): void {
    if (folder !== undefined) {
      const known = whatIsKnown('cd', [folder], foldersFor(text, 1), where);
      if (known.verdict !== 'allow') add(text, null, known);
      follow(text, folder);
    }
    judgeWords(words.map((word) => word.text).join(' '), words, depth);
  }

  /**
   * What is known of the command, then what a rule says of it. A rule lifts a question, never a refusal; and where nothing
   * brings back what is lost, only a rule that names what loses it.
   */
  function judgeAlone(text: string, { name, args, here, ruled }: Alone): void {
    const known = whatIsKnown(name, args, here, where);
    if (known.rule !== READ_ONLY) readOnly = false;
    const isMeant = known.loses === undefined || ruled?.verdict !== 'allow' || ruled.names?.(known.loses) === true;
    const counts = ruled?.ordinary !== true || known.rule === READ_ONLY || isOrdinaryUse(name, args);
    add(text, name, known.verdict === 'deny' || !counts || !isMeant ? known : (ruled ?? known));
  }

  /** Those that these words are looked up from: where it is too much, the highest, from where most can be lost. */
  function foldersFor(text: string, words: number): readonly string[] {
    const left = MOST_LOOKUPS - lookups;
    lookups += words * folders.all.length;
    if (lookups <= MOST_LOOKUPS || folders.all.length === 1) return folders.all;
    add(text, null, ask(AMBIGUOUS, 'It names more files from more folders than anybody looks up.'));
    const highest = folders.all.toSorted((one, other) => one.length - other.length);
    return highest.slice(0, Math.max(1, Math.floor(left / words)));
  }

  function follow(text: string, target: ShellWord | undefined): void {
    const { fresh, why } = folders.follow(target);
    variables.enter(fresh);
    if (why !== undefined) add(text, null, notUnderstood(why));
  }
}

/** A command by itself, without what it runs. */
interface Alone {
  readonly name: string;
  readonly args: readonly ShellWord[];
  /** The folders it may run in. */
  readonly here: readonly string[];
  readonly ruled: RuleAnswer | undefined;
}

/** Asked about also where it is only one way to read a command. */
const AMBIGUOUS = 'ambiguous';

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

/** A pattern becomes the files that it matches. */
function knownWord({ value, pattern }: ShellWord): string | null {
  return pattern ? null : value;
}

function sayingOf({ text, reason }: CommandPart): string {
  return `${text}\0${reason}`;
}

function worstOf(parts: readonly CommandPart[]): CommandPart {
  const by = (answer: CommandPart['verdict']) => parts.find(({ verdict }) => verdict === answer);
  return by('deny') ?? by('ask') ?? (parts[0] as CommandPart);
}
