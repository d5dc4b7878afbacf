import { launched } from './commands/launchers.ts';
import { plainWord } from './commands/shell-words.ts';

/** Programs that run what they are given by other means than their words: a rule for the words would allow anything. */
const ANYTHING = words(`
  sh bash dash zsh ksh ash fish csh tcsh busybox eval source . exec sudo doas su env xargs parallel watch expect at batch crontab
  python node deno bun ruby irb perl php lua luajit tclsh R Rscript ghci runghc iex elixir erl jshell scala groovy osascript pwsh
  tsx ts-node awk gawk mawk sed ed ex vi vim nvim emacs gdb lldb m4 bc dc
  ssh scp sftp ftp telnet nc ncat socat rsync docker podman kubectl helm terraform ansible ansible-playbook
  psql mysql mariadb sqlite3 duckdb mongo mongosh redis-cli sqlplus sqlcmd
  find curl wget tee dd patch cpio`);

/** Subcommands that apply what a file or the input says. */
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  git: ['apply', 'am', 'fast-import', 'filter-branch', 'bisect', 'update-index', 'update-ref', 'hash-object', 'config'],
  go: ['run', 'generate'],
  dotnet: ['script', 'fsi'],
};

/** Interpreters whose first word may be a file of the project; that file's text is asked about by itself. */
const INTERPRETERS = words('python node ruby perl php bash sh tsx ts-node');

const DEEPEST = 3;

const STANDARD_INPUT = /(^|=|^-[A-Za-z])(-|\/dev\/(stdin|fd\/\d+)|\/proc\/(self|\d+)\/fd\/\d+)$/;

/**
 * Why these words do not say what runs: the program takes it from its input, from a file, or from further words. Undefined
 * where they do.
 */
export function openEnded([program = '', ...args]: readonly string[], depth = 0): string | undefined {
  const name = program.replace(/(?<=^(python|perl|ruby|php|lua|node))[\d.]+$/, '');
  if (args.some((word) => STANDARD_INPUT.test(word))) return `${program} would take what runs from its input`;
  const [first = ''] = args;
  if (INTERPRETERS.has(name) && first !== '' && !first.startsWith('-')) return undefined;
  if (ANYTHING.has(name)) return `${program} can run anything, so a rule for it would allow anything`;
  if (GIVEN[name]?.includes(first))
    return `${program} ${first} does what it is given, so a rule for it would allow anything`;
  const behind = launched(name, args.map(plainWord));
  if (behind.some(({ kind }) => kind === 'script')) return `${program} would run a script of its own`;
  if (depth > DEEPEST) return `${program} starts a program that starts another, and so on`;
  for (const inner of behind) {
    if (inner.kind !== 'words') continue;
    const why = openEnded(
      inner.words.map(({ text }) => text),
      depth + 1,
    );
    if (why !== undefined) return why;
  }
  return undefined;
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
