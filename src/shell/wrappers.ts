import { isHarmlessVariable } from '../kernel/world/environment.ts';
import { isTrickyBuiltin } from './tricky-builtins.ts';
import { plainWord, type ShellWord } from './words.ts';

/** One thing that a command runs besides itself. `script`: text that a shell reads; `unseen`: a command that cannot be known here. */
export type InnerCommand =
  | { readonly kind: 'words'; readonly words: readonly ShellWord[] }
  | { readonly kind: 'script'; readonly source: string; readonly shell?: string }
  | { readonly kind: 'unseen'; readonly why: string };

/** Words that are inserted at run time: a file that `find` finds, a line that `xargs` reads. */
const LATER: ShellWord = { ...plainWord('{}'), value: null };

/** Shells, also those that read a text in their own way. */
export const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh ksh93 mksh ash fish rbash csh tcsh elvish nu xonsh pwsh powershell'.split(' '),
);

const DURATION = String.raw`\d+(?:\.\d+)?[smhd]? `;

/**
 * Programs that only start the command behind their own words, and those words, each with a blank behind it. With any other word the
 * command counts as unseen, so that no value of an option is taken for a program.
 */
const OWN_WORDS: Readonly<Record<string, RegExp>> = {
  env: /^(?:[A-Za-z_]\w*=\S* )*$/,
  nohup: /^$/,
  setsid: /^(?:-[cfw]+ )*$/,
  nice: /^(?:-n ?-?\d+ |-\d+ |--adjustment=-?\d+ )?$/,
  ionice: /^(?:-t |-[cn] ?\d )*$/,
  timeout: new RegExp(
    `^(?:-v |--(?:foreground|preserve-status|verbose) |(?:-k ?|--kill-after[= ])${DURATION}|(?:-s ?|--signal[= ])\\w+ )*${DURATION}$`,
  ),
  stdbuf: /^(?:-[ioe] ?[0L\d]\w* )+$/,
  time: /^(?:-p )?$/,
  command: /^(?:-p )?$/,
  builtin: /^$/,
  exec: /^(?:-[cl]+ |-a \S+ )*$/,
  busybox: /^$/,
  toybox: /^$/,
  sudo: /^(?:-[EHSbn]+ |-[gu] ?\w+ )*$/,
  doas: /^(?:-n |-u ?\w+ )*$/,
  xargs: /^(?:-[0rtx]+ |--null |--no-run-if-empty |-[LPn] ?\d+ |-[Id] ?\S+ )*$/,
};
const MAX_OWN_WORDS = 12;

/** Programs that start what stands behind words of which no table is kept: of these a computed word may be the program. */
const STARTERS = new Set(
  `strace ltrace flock watch chroot taskset chrt parallel unshare nsenter systemd-run su runuser script chronic unbuffer
  fakeroot catchsegv xvfb-run rtk`.split(/\s+/),
);

/** The commands that this command runs, besides itself. Empty for a command that runs no other. */
export function innerCommands(name: string, args: readonly ShellWord[]): readonly InnerCommand[] {
  if (SHELLS.has(name)) return [scriptOf(name, args)];
  if (name === 'eval')
    return args.every(isKnown) ? [script(args.map(({ seen }) => seen).join(' '))] : [unseenText(name)];
  if (name === 'trap') return trapped(args);
  if (/^(?:find|fd|fdfind)$/.test(name)) return commandsPerFile(args);
  if (isTrickyBuiltin(name, args)) return [unseen('it runs text as code, or changes what words mean to the shell')];
  if (name === 'command' && /^-[vV]$/.test(args[0]?.seen ?? '')) return [];
  if (Object.hasOwn(OWN_WORDS, name)) return behindOwnWords(name, args);
  if (STARTERS.has(name)) return args.every(isKnown) && name !== 'parallel' ? [] : [unseenText(name)];
  const part = /(?:^|\/)git-([a-z-]+)$/.exec(name)?.[1];
  return part === undefined ? [] : [{ kind: 'words', words: [plainWord('git'), plainWord(part), ...args] }];
}

/** Programs that add nothing of their own; the verdict about what they run is the whole verdict. */
const TRANSPARENT = new Set(
  'env nohup nice ionice timeout stdbuf time command builtin xargs bash sh dash eval trap setsid'.split(' '),
);

/** Whether a rule for this command has no effect, because only the command behind it is judged. */
export function isTransparent(name: string, inner: readonly InnerCommand[]): boolean {
  return TRANSPARENT.has(name) && inner.length > 0;
}

function isKnown({ value, pattern }: ShellWord): boolean {
  return value !== null && !pattern;
}

function script(source: string, shell?: string): InnerCommand {
  return { kind: 'script', source, ...(shell && { shell }) };
}

function unseen(why: string): InnerCommand {
  return { kind: 'unseen', why };
}

function unseenText(name: string): InnerCommand {
  return unseen(`${name} runs computed text`);
}

function behindOwnWords(name: string, args: readonly ShellWord[]): readonly InnerCommand[] {
  let [own, text] = [-1, ''];
  for (let at = 0; at <= Math.min(args.length, MAX_OWN_WORDS); at++) {
    if (OWN_WORDS[name]?.test(text)) own = at;
    const next = args[at];
    if (next === undefined || !isKnown(next) || /\s/.test(next.seen)) break;
    text += `${next.seen} `;
  }
  const from = args[own]?.value === '--' ? own + 1 : own;
  const words = args.slice(from);
  if (own === -1 || words[0]?.seen.startsWith('-')) return [unseen(`the options of ${name} are not all known`)];
  const risky = name === 'env' ? args.slice(0, own).find(isRisky) : undefined;
  const inner =
    words.length === 0 ? [] : [{ kind: 'words' as const, words: withLater(name, args.slice(0, own), words) }];
  return risky === undefined ? inner : [unseen(`${risky.text} may change what runs`), ...inner];
}

/** Whether a variable may change what runs. To `env` any word with `=` is one. */
function isRisky({ seen }: ShellWord): boolean {
  const at = seen.indexOf('=');
  return !isHarmlessVariable(seen.slice(0, at), seen.slice(at + 1));
}

/** Of `xargs` the words that it reads: in the place of a text, and at the end. */
function withLater(name: string, own: readonly ShellWord[], words: readonly ShellWord[]): readonly ShellWord[] {
  if (name !== 'xargs') return words;
  const texts = own.flatMap(({ seen }, at) => (seen.startsWith('-I') ? seen.slice(2) || own[at + 1]?.seen || [] : []));
  return [...words.map((word) => (texts.some((text) => word.seen.includes(text)) ? LATER : word)), LATER];
}

const SHELL_OPTION = /^(?:-[eilnouvx]+|--(?:login|norc|noprofile)|errexit|nounset|pipefail|xtrace)$/;

/** The script that a shell is told to run. A word before the option may be the name of a file, or change what words mean. */
function scriptOf(name: string, args: readonly ShellWord[]): InnerCommand {
  const at = args.findIndex(({ value }) => /^-[eilnsuvx]*c[eilnsuvx]*$/.test(value ?? ''));
  const text = args[at + 1];
  if (at === -1) return unseen(`${name} runs a script that is not shown here`);
  const isOrdinary = args.slice(0, at).every(({ value }) => SHELL_OPTION.test(value ?? ''));
  if (!isOrdinary || text === undefined || !isKnown(text) || /^[-+]/.test(text.seen)) return unseenText(name);
  return script(text.seen, name);
}

function trapped(args: readonly ShellWord[]): readonly InnerCommand[] {
  const action = args.find(({ value }) => value !== '--');
  if (action === undefined || /^(?:-|-l|)$/.test(action.value ?? 'computed')) return [];
  return [isKnown(action) ? script(action.seen) : unseenText('trap')];
}

const MAX_ACTIONS = 20;

/** The commands that `find` and `fd` run for each file. */
function commandsPerFile(args: readonly ShellWord[]): readonly InnerCommand[] {
  const starts = args.flatMap(({ value }, at) =>
    /^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(value ?? '') ? [at + 1] : [],
  );
  if (starts.length > MAX_ACTIONS) return [unseen('it runs more commands than can be checked')];
  return starts.map((start) => {
    const length = args.slice(start).findIndex(({ value }) => value === ';' || value === '+');
    const words = length === -1 ? args.slice(start) : args.slice(start, start + length);
    return { kind: 'words', words: words.map((word) => (word.seen.includes('{}') ? LATER : word)) };
  });
}

/** A command behind more wrappers is not looked for. */
export const MAX_WRAPPERS = 8;
