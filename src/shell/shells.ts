import { type FlagTable, parseFlags } from './flags.ts';
import { type Inner, joined, loosely, unseen } from '../policy/commands/inner.ts';
import type { ShellWord } from './words.ts';

export const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh ksh93 mksh ash fish rbash csh tcsh elvish nu xonsh pwsh powershell'.split(' '),
);

/** Shells whose text means what it means to bash, but for a few things. */
const LIKE_BASH: ReadonlySet<string> = new Set(['bash', 'sh', 'dash', 'ash', 'rbash']);

const FLAGS: FlagTable = {
  alone: '-e -u -x -l -i -n -v -s --login --norc --noprofile --posix',
  takes: '-o',
};
/** What else can be switched on changes what words mean. */
const HARMLESS_OPTIONS = /^(?:errexit|nounset|xtrace|verbose|pipefail)$/;

/** What a shell is told to run. Where its options are not all known, what looks like a script is looked at all the same. */
export function shellScript(name: string, args: readonly ShellWord[]): readonly Inner[] {
  const at = args.findIndex(({ value }) => /^-[a-np-z]*c[a-np-z]*$/i.test(value ?? ''));
  if (at === -1) return [unseen(`${name} runs a script that is not shown here`)];
  const before = parseFlags(args.slice(0, at), FLAGS);
  const script = args[at + 1];
  // More options may follow, and the script behind them.
  if (/^[-+]/.test(script?.value ?? ''))
    return [unseen(`${name} runs computed text`), ...args.slice(at + 1).map((word) => loosely(joined([word])))];
  if (script === undefined || script.value === null || script.pattern)
    return [unseen(`${name} runs computed text`), ...(script === undefined ? [] : [loosely(joined([script]))])];
  const why = isKnownCluster(args[at]) ? whyUnseen(name, before) : `${name} runs computed text`;
  return why === undefined
    ? [{ kind: 'script', source: script.value, shell: name }]
    : [unseen(why), loosely(script.value)];
}

function whyUnseen(name: string, before: ReturnType<typeof parseFlags>): string | undefined {
  if ('unknown' in before) return `${name} runs computed text`;
  if (before.options.some(({ name: option, value }) => option === '-o' && !HARMLESS_OPTIONS.test(value?.value ?? '')))
    return `${name} reads text in its own way`;
  // The first operand is a script; then -c is one of its arguments.
  if (before.operands.length > 0) return `${name} runs a script that is not shown here`;
  if (!LIKE_BASH.has(name)) return `${name} reads text in its own way`;
  return undefined;
}

/**
 * Whether a text means something else to a shell that has only the words of POSIX: `[[ a || b ]]` runs b there, `&>` ends a
 * command, `((` opens two subshells, and a word such as `function` is a program.
 */
export function isReadOtherwise(script: string): boolean {
  const text = script.replaceAll('\\\n', '');
  return /\$['"[]|\[\[|(?<!\$)\(\(|&>|\|&|\+=|[<>]\(|<<<|=\(|\b(?:function|select|coproc|time)\b|\d\d[<>]/.test(text);
}

function isKnownCluster(word: ShellWord | undefined): boolean {
  return /^-[euxlinvs]*c[euxlinvs]*$/.test(word?.value ?? '');
}

export function evaluated(args: readonly ShellWord[]): readonly Inner[] {
  if (args.some(({ value, pattern }) => value === null || pattern))
    return [unseen('eval runs computed text'), loosely(joined(args))];
  return [{ kind: 'script', source: joined(args) }];
}

export function trapped(args: readonly ShellWord[]): readonly Inner[] {
  const action = args.find(({ value }) => value !== '--');
  if (action === undefined || action.value === '-' || action.value === '' || action.value === '-l') return [];
  return action.value === null || action.pattern
    ? [unseen('trap runs computed text')]
    : [{ kind: 'script', source: action.value }];
}
