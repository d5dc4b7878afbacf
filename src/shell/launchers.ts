import { plainWord, type ShellWord } from './words.ts';
import { guessScript, joined, type WrappedCommand } from './wrapped-command.ts';

/**
 * Programs that run another one among much else, with more options than anybody lists. So where the inner command begins is
 * guessed, every way it may be meant: what is refused or held back there counts, and nothing is allowed for it.
 */
interface Launcher {
  /** It runs something only behind one of these words. Left out: always. */
  readonly after?: string;
  /** Words of its own in front of the command: a host, an image. */
  readonly operands?: number;
  /** A shell reads what follows, joined. */
  readonly joins?: true;
  /** A shell reads each word that follows. */
  readonly each?: true;
  /** Options whose value a shell reads. */
  readonly scripts?: string;
  /** Its words hold code, and the strings in it may be given to a shell. */
  readonly code?: true;
  /** Subcommands that are programs by themselves. */
  readonly itself?: string;
  /** It runs on another machine or in a container. */
  readonly elsewhere?: true;
}

const ENVIRONMENT: Launcher = { after: 'run exec x' };
const IN_FOLDER: Launcher = { after: 'run exec', operands: 1 };
const CONTAINER: Launcher = { ...IN_FOLDER, elsewhere: true };
const SWITCH_USER: Launcher = { scripts: '-c --command --session-command' };
const EDITOR: Launcher = { after: '', scripts: '-c --cmd +' };
const LAUNCHER: Launcher = {};

const LAUNCHERS: Readonly<Record<string, Launcher>> = {
  ...all('npx bunx pnpx', { scripts: '-c --call' }),
  ...all('npm pnpm yarn bun', { after: 'exec exe ex dlx x node', scripts: '-c --call' }),
  ...all('uvx dotenv cross-env env-cmd pkexec unshare nsenter setpriv systemd-run prlimit choom numactl', LAUNCHER),
  ...all('valgrind rlwrap torsocks proxychains entr watchexec firejail bwrap proot dbus-run-session', LAUNCHER),
  ...all('pipx poetry pipenv hatch rye pdm bundle mise asdf pyenv rbenv nodenv volta nvm conda mamba', ENVIRONMENT),
  uv: { ...ENVIRONMENT, itself: 'pip' },
  ...all('dotenvx doppler op flatpak snap', ENVIRONMENT),
  ...all('docker podman nerdctl lxc docker-compose kubectl oc', CONTAINER),
  ...all('direnv aws-vault', IN_FOLDER),
  ...all('setarch linux32 linux64 i386 i686 x86_64 aarch64', LAUNCHER),
  ...all('ssh-agent eatmydata tini dumb-init catatonit trickle tsocks chpst start-stop-daemon', LAUNCHER),
  ...all('gosu su-exec cgexec cpulimit logsave faketime setuidgid envdir', { operands: 1 }),
  sg: { operands: 1, joins: true, scripts: '-c' },
  jobs: { after: '-x -rx -sx -xr -xs' },
  ...all('su runuser script', SWITCH_USER),
  ...all('vi vim nvim ex', EDITOR),
  ...all('python perl ruby node nodejs php lua awk gawk mawk tclsh osascript', { after: '', code: true }),
  ...all('pypy luajit julia guile octave raku Rscript elixir', { after: '', code: true }),
  ...all('hyperfine concurrently', { each: true }),
  ssh: { operands: 1, joins: true, scripts: '-o', elsewhere: true },
  expect: { after: '', scripts: '-c' },
  perf: { after: 'stat record trace' },
  adb: { after: 'shell', joins: true, elsewhere: true },
  vagrant: { after: '', scripts: '-c --command' },
  ansible: { after: '', scripts: '-a --args' },
  tmux: { after: 'new new-session neww new-window splitw split-window run run-shell send send-keys', joins: true },
  screen: { after: 'stuff exec -dm -Dm', joins: true },
  nodemon: { after: '', scripts: '-x --exec' },
  'nix-shell': { after: '', scripts: '--run --command' },
  nix: { after: '-c --command' },
  gdb: { after: '--args', scripts: '-ex --eval-command' },
  rsync: { after: '', scripts: '-e --rsh --rsync-path' },
  tar: { after: '', scripts: '-I --to-command --use-compress-program --checkpoint-action' },
  git: {
    after: 'foreach run',
    joins: true,
    scripts: '-x --exec --tree-filter --index-filter --env-filter --msg-filter --commit-filter --parent-filter',
  },
};

const MOST_WAYS = 8;

/** Every command line and every script that a launcher may be meant to run. */
export function launchedCommands(name: string, args: readonly ShellWord[]): readonly WrappedCommand[] {
  const launcher = launcherOf(name);
  if (launcher === undefined) return [];
  const { after, operands = 0, joins, each, code, scripts = '' } = launcher;
  if (code) return [...moduleRun(name, args), ...stringsIn(joined(args))];
  const guess = launcher.elsewhere ? 'elsewhere' : 'here';
  const start = after === undefined ? 0 : args.findIndex(({ value }) => listed(after).includes(value ?? '')) + 1;
  const itself = args.findIndex(({ value }) => value !== null && value === launcher.itself);
  const behind = after !== undefined && start === 0 ? [] : args.slice(start);
  const ways = commandStarts(behind).map((at) => {
    const from = at + operands;
    return behind.slice(behind[from]?.seen === '--' ? from + 1 : from);
  });
  if (itself !== -1) ways.push(args.slice(itself));
  // Commands in its options run here, wherever the rest does: the ProxyCommand of ssh.
  const given = [...optionValues(args, listed(scripts)), ...args.flatMap(aliasOf)].map((one) => guessScript(one));
  if (each) return [...given, ...behind.map((word) => guessScript(joined([word])))];
  if (joins) return [...given, ...ways.map((words) => guessScript(joined(words), guess))];
  return [
    ...ways.filter((words) => words.length > 0).map((words) => ({ kind: 'words', words, guess }) as const),
    ...given,
  ];
}

/** Whether a program without operands reads code. */
export function readsCode(name: string): boolean {
  return launcherOf(name)?.code === true && !/awk|osascript/.test(name);
}

/** Whether what a program is given to read is read on another machine or in a container. */
export function isElsewhere(name: string): boolean {
  return launcherOf(name)?.elsewhere === true;
}

/** The loader of programs, which runs the one that it is given. */
const LOADER = /(?:^|\/)ld(?:64|-linux|-musl)?[\w.-]*\.so(?:\.\d+)?$/;

function launcherOf(name: string): Launcher | undefined {
  if (LOADER.test(name)) return LAUNCHER;
  const known = Object.hasOwn(LAUNCHERS, name) ? name : name.replace(/(?<![\d.])[\d.]+$/, '');
  return Object.hasOwn(LAUNCHERS, known) ? LAUNCHERS[known] : undefined;
}

/** Where a command may begin: a word behind an option is its value or the command; a word behind a word ends the guessing. */
export function commandStarts(args: readonly ShellWord[]): number[] {
  const starts: number[] = [];
  for (const [at, { seen }] of args.entries()) {
    if (starts.length === MOST_WAYS) break;
    if (seen.startsWith('-') || /^\w+=/.test(seen)) continue;
    starts.push(at);
    // An assignment to `env` and its kin, or a program with a strange name.
    if (/^[^/=]+=/.test(seen)) continue;
    const before = args[at - 1]?.seen ?? '';
    if (!before.startsWith('-') || before === '--') break;
  }
  return starts;
}

/** `-c text`, `-qc text`, `-ctext`, `--call=text`. */
function optionValues(args: readonly ShellWord[], options: readonly string[]): string[] {
  return args.flatMap(({ value }, at) => {
    if (value === null || !value.startsWith('-')) return [];
    const next = args[at + 1];
    return options.flatMap((option) => {
      if (value === option || (!option.startsWith('--') && new RegExp(`^-[a-zA-Z]*${option[1]}$`).test(value)))
        return next === undefined ? [] : [bare(joined([next]))];
      if (option.startsWith('--') ? value.startsWith(`${option}=`) : value.startsWith(option))
        return [bare(value.slice(option.length).replace(/^=/, ''))];
      return [];
    });
  });
}

/**
 * `system("a b")` and `run(["a", "b"])`: each string of several words, and those in a row from each that may be a program. Escapes are stepped over
 * outside strings too: with that a quote that nothing closes is tried once, and not again from every escaped one behind it.
 */
export function stringsIn(whole: string): readonly WrappedCommand[] {
  const code = whole.slice(0, LONGEST_CODE);
  const strings = [...code.matchAll(/\\.|(["'`])((?:\\.|(?!\1)[^\\])*)\1/gs)].flatMap(([, , inside]) => inside ?? []);
  if (strings.length === 0) return [];
  const texts = strings.filter((one) => /\S\s+\S/.test(one)).slice(0, MOST_WAYS);
  const guess = STARTING.test(code) ? 'here' : 'mentioned';
  const starts = strings.flatMap((one, at) => (at === 0 || isProgram(one) ? [at] : []));
  const rows = starts.slice(0, guess === 'here' ? MOST_WAYS : 1).map((at) => strings.slice(at).join(' '));
  return [...texts, ...rows].map((text) => guessScript(text, guess));
}

function isProgram(text: string): boolean {
  return /^[\w./][\w./+-]*$/.test(text);
}

/** `python3 -m pip install x`: the module by itself is the program. */
function moduleRun(name: string, args: readonly ShellWord[]): readonly WrappedCommand[] {
  if (!name.startsWith('python')) return [];
  const at = args.findIndex(({ value }) => /^-[a-zA-Z]*m/.test(value ?? ''));
  const glued = args[at]?.value?.replace(/^-[a-zA-Z]*?m/, '') ?? '';
  const words = [...(glued === '' ? [] : [plainWord(glued)]), ...args.slice(at + 1)];
  return at === -1 || words.length === 0 ? [] : [{ kind: 'words', words, guess: 'here' }];
}

/** Of all words together. */
const LONGEST_CODE = 10_000;

/** Names in code that start programs, in any of the languages. */
const STARTING =
  /system|exec|spawn|popen|process|\bos\b|\brun\b|\bcall\b|command|shell|fork|eval|import_|importlib|getline|`|\bqx\b|%x|\bopen\b|\|\s*["'&]|["']\s*\|/i;

/** `alias.x=!text` and `core.pager=text`, wherever git is told so. */
function aliasOf({ value }: ShellWord): string[] {
  const text = /^(?:-c)?alias\.[^=]*=!(.*)$/is.exec(value ?? '')?.[1];
  const [, key = '', set] = /^(?:-c)?([\w-]+\.[^=]*)=!?(.*)$/s.exec(value ?? '') ?? [];
  return text !== undefined ? [text] : set !== undefined && RUN_BY_GIT.test(key) ? [set] : [];
}

/** Settings whose value git runs. */
const RUN_BY_GIT =
  /^(core\.(pager|editor|sshcommand|askpass|fsmonitor)|pager\..*|sequence\.editor|diff\.external|.*\.(helper|cmd|textconv|program|clean|smudge))$/i;

/** The text in front of the script in the languages of editors and debuggers, and in settings. */
function bare(script: string): string {
  return script.replace(/^\s*:?(?:!|shell\s|spawn\s|exec\s|system\s|(?:ProxyCommand|LocalCommand|exec)=)\s*/i, '');
}

function listed(words: string): readonly string[] {
  return words.split(' ').filter(Boolean);
}

function all(names: string, launcher: Launcher): Record<string, Launcher> {
  return Object.fromEntries(listed(names).map((name) => [name, launcher]));
}
