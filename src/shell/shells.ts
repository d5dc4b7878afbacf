import { type FlagTable, parseFlags } from './flags.ts';
import type { ShellWord } from './words.ts';
import { joined, unseen, type WrappedCommand } from './wrapped-command.ts';

export const SHELLS: ReadonlySet<string> = new Set(
  'sh bash dash zsh ksh ksh93 mksh ash fish rbash csh tcsh elvish nu xonsh pwsh powershell'.split(' '),
);

/** Shells that read almost every text as bash does. */
const LIKE_BASH: ReadonlySet<string> = new Set(['bash', 'sh', 'dash', 'ash', 'rbash']);

const FLAGS: FlagTable = {
  alone: '-e -u -x -l -i -n -v -s --login --norc --noprofile --posix',
  takes: '-o',
};
/** Any other option changes what words mean. */
const HARMLESS_OPTIONS = /^(?:errexit|nounset|xtrace|verbose|pipefail)$/;

/** The script that a shell is told to run. */
export function shellScript(name: string, args: readonly ShellWord[]): readonly WrappedCommand[] {
  const at = args.findIndex(({ value }) => /^-[a-np-z]*c[a-np-z]*$/i.test(value ?? ''));
  if (at === -1) return [unseen(`${name} runs a script that is not shown here`)];
  const before = parseFlags(args.slice(0, at), FLAGS);
  const script = args[at + 1];
  // More options may follow, and the script behind them.
  if (/^[-+]/.test(script?.value ?? '')) return [unseen(`${name} runs computed text`)];
  if (script === undefined || script.value === null || script.pattern) return [unseen(`${name} runs computed text`)];
  const why = isKnownCluster(args[at]) ? whyUnseen(name, before) : `${name} runs computed text`;
  return why === undefined ? [{ kind: 'script', source: script.value, shell: name }] : [unseen(why)];
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
 * Whether a text means something else to a plain POSIX shell: there `[[ a || b ]]` runs b, `&>` ends a command, `((` opens
 * two subshells, and a word such as `function` is a program.
 */
export function differsInPosix(script: string): boolean {
  const text = script.replaceAll('\\\n', '');
  return /\$['"[]|\[\[|(?<!\$)\(\(|&>|\|&|\+=|[<>]\(|<<<|=\(|\b(?:function|select|coproc|time)\b|\d\d[<>]/.test(text);
}

function isKnownCluster(word: ShellWord | undefined): boolean {
  return /^-[euxlinvs]*c[euxlinvs]*$/.test(word?.value ?? '');
}

export function evalScript(args: readonly ShellWord[]): readonly WrappedCommand[] {
  if (args.some(({ value, pattern }) => value === null || pattern)) return [unseen('eval runs computed text')];
  return [{ kind: 'script', source: joined(args) }];
}

export function trapScript(args: readonly ShellWord[]): readonly WrappedCommand[] {
  const action = args.find(({ value }) => value !== '--');
  if (action === undefined || action.value === '-' || action.value === '' || action.value === '-l') return [];
  return action.value === null || action.pattern
    ? [unseen('trap runs computed text')]
    : [{ kind: 'script', source: action.value }];
}
