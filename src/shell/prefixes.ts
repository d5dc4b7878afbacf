import { type FlagTable, isOneWord, parseFlags } from './flags.ts';
import { isListed } from './spellings.ts';
import type { ShellWord } from './words.ts';

/** A command whose last arguments are a command line. */
export interface Prefix extends FlagTable {
  /** Operands of its own before the command: the seconds of `timeout`. */
  operands?: number;
  /** `NAME=value` before the command. */
  assignments?: boolean;
  /** Options that say in which folder the command starts. */
  folder?: readonly string[];
  /** A shell reads the command line, joined: always, or with one of these options. */
  joins?: true | readonly string[];
  /** Options with which no shell reads it. */
  direct?: readonly string[];
}

export const PREFIXES: Readonly<Record<string, Prefix>> = {
  sudo: {
    alone: '-E -H -n -S -k -b -i -s -A -K -P --preserve-env --non-interactive --login --shell --stdin --set-home',
    takes: '-u -g -p -h -C -T -D -R -r -t --user --group --prompt --host --chdir --chroot --role --type',
    assignments: true,
    folder: ['-D', '--chdir'],
    joins: ['-s', '-i', '--shell', '--login'],
  },
  doas: { alone: '-n -s', takes: '-u -C' },
  env: {
    alone: '-i -0 - --ignore-environment --null -v --debug',
    takes: '-u -C --unset --chdir',
    assignments: true,
    folder: ['-C', '--chdir'],
  },
  nohup: {},
  setsid: { alone: '-c -f -w --ctty --fork --wait' },
  nice: { alone: '', takes: '-n --adjustment', digits: true },
  ionice: { alone: '-t', takes: '-c -n' },
  chrt: { alone: '-b -f -i -o -r', takes: '-p', operands: 1 },
  taskset: { alone: '-c', operands: 1 },
  timeout: { alone: '-v --foreground --preserve-status --verbose', takes: '-k -s --kill-after --signal', operands: 1 },
  stdbuf: { takes: '-i -o -e --input --output --error' },
  time: { alone: '-p -v --portability --verbose', takes: '-f --format' },
  command: { alone: '-p' },
  builtin: {},
  exec: { alone: '-c -l', takes: '-a' },
  chronic: {},
  unbuffer: {},
  catchsegv: {},
  fakeroot: {},
  flock: {
    alone: '-s -x -e -n -u -o -F --shared --exclusive --nonblock --nb --unlock --close --no-fork --verbose',
    takes: '-w -E --wait --timeout --conflict-exit-code',
    operands: 1,
  },
  watch: {
    alone:
      '-b -c -d -e -g -p -q -r -t -w -x --beep --color --errexit --chgexit --precise --no-rerun --no-title --no-wrap --exec',
    takes: '-n --interval --equexit',
    glued: '--differences',
    joins: true,
    direct: ['-x', '--exec'],
  },
  busybox: {},
  toybox: {},
  strace: { alone: '-f -ff -c -C -q -t -tt -T -v -y -r -k', takes: '-e -o -s -p -E -u -P' },
  ltrace: { alone: '-f -c -S -t', takes: '-e -o -s -u' },
  chroot: { takes: '--userspec --groups', operands: 1 },
  'xvfb-run': { alone: '-a --auto-servernum', takes: '-s -n -e --server-args --server-num' },
  rtk: {},
};

/** Where the inner command begins: behind the options, the prefix's own operands and its assignments. */
export function commandStart(args: readonly ShellWord[], prefix: Prefix): number | undefined {
  let at = 0;
  for (; at < args.length; at++) {
    const text = args[at]?.value;
    if (text === null || text === undefined) return undefined;
    if (text === '--') {
      at++;
      break;
    }
    if (text === '-' && isListed(text, prefix.alone)) continue;
    if (!text.startsWith('-') || text === '-') break;
    const one = parseFlags(args.slice(at, at + 1), prefix);
    if ('unknown' in one) return undefined;
    if (one.options.at(-1)?.value === undefined && takesNext(text, prefix) && !isSkippable(args[++at]))
      return undefined;
  }
  const own = args.slice(at, at + (prefix.operands ?? 0));
  if (!own.every(isSkippable)) return undefined;
  at += prefix.operands ?? 0;
  while (prefix.assignments && isAssignment(args[at])) at++;
  return at;
}

/** To `env` any word with `=` is an assignment, whatever a shell accepts as a name. */
export function isAssignment(word: ShellWord | undefined): boolean {
  return /^\w+=/.test(word?.seen ?? '') || /^[^-=][^=]*=/.test(word?.value ?? '');
}

/** False for a word that may become several: the second of them would be the command. */
function isSkippable(word: ShellWord | undefined): boolean {
  return isOneWord(word) && word?.pattern !== true;
}

function takesNext(text: string, { takes = '' }: Prefix): boolean {
  const name = text.startsWith('--') ? text : `-${text.at(-1)}`;
  return takes.split(/\s+/).includes(name) && !text.includes('=');
}
