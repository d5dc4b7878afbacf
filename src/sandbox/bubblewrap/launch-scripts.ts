import { quoteForShell } from '../../kernel/text/escape.ts';
import type { Dialer } from '../../kernel/world/dialer.ts';
import type { Limits, RunRequest } from '../../kernel/world/sandbox.ts';
import type { Cgroup } from '../limits/cgroup.ts';
import { LISTENER_PROGRAM, PROXY_ENVIRONMENT } from '../network/network.ts';
import { OWNER_ENV } from '../orphans.ts';
import { withinHardLimit } from '../request-size.ts';
import { INSIDE_HOME, INSIDE_USER } from './etc-files.ts';
import type { Launcher } from './launcher.ts';

/** The scripts between a launcher and the command: for the shell outside and the shell inside, with their variables. */

/** The last word of the shell inside, unless it was killed. */
export const DONE = 'done';

interface CommandEnvironment {
  readonly request: RunRequest;
  /** The search path inside. */
  readonly path: readonly string[];
  /** Of the toolchains; those of the request win. */
  readonly variables: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Without one the command has no network, whatever the request says. */
  readonly dialer: Dialer | undefined;
}

interface OutsideSteps {
  readonly limits: Limits;
  readonly cgroup: Cgroup | null;
  /** Bubblewrap with its arguments. */
  readonly words: readonly string[];
  /** The file or pipe that the command reads. */
  readonly stdin: string;
}

/**
 * Lowers the limits of the process and becomes bubblewrap. They are per process, so they only back up the limits on the
 * tree. `-d` counts private writable memory: address space would be the wrong measure, since runtimes reserve far more of
 * it than they use.
 */
export function outsideScript({ limits, cgroup, words, stdin }: OutsideSteps): string {
  const values: [letter: string, value: string][] = [
    ['c', '0'],
    ['f', withinHardLimit(limits.fileBytes, 'Max file size', 512)],
    ['n', withinHardLimit(limits.openFiles, 'Max open files')],
    ['t', withinHardLimit(Math.ceil(limits.cpuMs / 1000) + 1, 'Max cpu time')],
    ...(cgroup === null ? [['d', withinHardLimit(limits.memoryBytes, 'Max data size', 1024)] as [string, string]] : []),
  ];
  return [
    ...values.map(([letter, value]) => `ulimit -${letter} ${value} || exit 125`),
    `exec ${words.map(quoteForShell).join(' ')} <${quoteForShell(stdin)} 3<&-`,
  ].join('\n');
}

/**
 * The first process inside: it waits for the command and for orphans, and when it ends all other processes end. Its own
 * output is kept apart: "Killed" tells a signal from an exit code of the same number. The limit on processes is set here,
 * where the user namespace counts from zero; shells disagree about its letter.
 */
export function insideScript(limits: Limits, { cgroup, fds }: Launcher): string {
  const { channel, report } = fds;
  const processes = withinHardLimit(limits.processes, 'Max processes');
  const door = `cd / && ${ENV} -i NODE_CHANNEL_FD=${channel} ${quoteForShell(process.execPath)} -e ${quoteForShell(LISTENER_PROGRAM)}`;
  return [
    ...(channel === null ? [] : [`(${door}) </dev/null || exit 126`, `exec ${channel}>&-`]),
    `exec 3>&2 2>&${report} ${report}>&-`,
    ...(cgroup === null ? [`{ ulimit -u ${processes} || ulimit -p ${processes}; } 2>/dev/null || exit 126`] : []),
    '(exec "$@" 2>&3 3>&-)',
    'code=$?',
    `echo ${DONE} >&2`,
    'exit $code',
  ].join('\n');
}

const ENV = '/usr/bin/env';

/**
 * The command, started by `env` with those variables of its request that shells and loaders obey. They must reach no
 * process before it: a shell would run the programs that they name while it holds other descriptors. Every user of the
 * machine can read the arguments of a process, so all other variables, which may be secret, are set like Toolwright's own.
 */
export function withVariables(argv: readonly string[], { env = {} }: RunRequest): readonly string[] {
  const given = Object.entries(env).filter(([name]) => OBEYED.test(name));
  if (given.length === 0) return argv;
  // `env` reads a word with = as one more variable.
  const isVariable = argv[0]?.includes('=') === true;
  const command = isVariable ? ['/bin/sh', '-c', 'exec "$@"', 'sh', ...argv] : argv;
  return [ENV, ...given.map(([name, value]) => `${name}=${value}`), ...command];
}

const OBEYED =
  /^(PATH|IFS|ENV|SHELL|SHELLOPTS|BASHOPTS|HOME|PWD|OLDPWD|CDPATH|GLOBIGNORE|PS\d|PROMPT_COMMAND|BASH\w*|LD_\w+|GLIBC_\w+|MALLOC_\w+|GCONV_PATH|LOCPATH|NLSPATH|LANG\w*|LC_\w+|TEXTDOMAIN\w*|POSIXLY_CORRECT)$/;

function unobeyed({ env = {} }: RunRequest): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OBEYED.test(name)));
}

/** The environment of every command, and of the shells before it. */
export function environment({ request, path, variables: ofToolchains, cwd, dialer }: CommandEnvironment): string[] {
  const hasNetwork = request.network !== undefined && dialer !== undefined;
  const variables: Record<string, string> = {
    PATH: path.join(':'),
    HOME: INSIDE_HOME,
    USER: INSIDE_USER,
    LOGNAME: INSIDE_USER,
    SHELL: '/bin/bash',
    LANG: 'C.UTF-8',
    TERM: 'dumb',
    TMPDIR: '/tmp',
    ...(hasNetwork ? PROXY_ENVIRONMENT : {}),
    ...ofToolchains,
    ...unobeyed(request),
    TOOLWRIGHT_SANDBOX: 'bubblewrap',
    TOOLWRIGHT_CALL: request.tag,
    ...OWNER_ENV,
  };
  const set = Object.entries(variables).flatMap(([name, value]) => ['--setenv', name, value]);
  return ['--chdir', cwd, '--clearenv', ...set];
}
