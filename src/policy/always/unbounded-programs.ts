import { isDataProgram, readText } from '../../shell/inside-readings.ts';

/** Programs that run text from elsewhere than their arguments: a rule for the arguments would allow anything. */
const UNBOUNDED_PROGRAMS = words(`
  sh bash dash zsh ksh ash fish csh tcsh busybox eval source . exec sudo doas su env xargs parallel watch expect at batch crontab
  tsx ts-node awk gawk mawk sed ed ex vi vim nvim emacs gdb lldb m4 bc dc
  ssh scp sftp ftp telnet nc ncat socat rsync docker podman kubectl helm terraform ansible ansible-playbook
  psql mysql mariadb sqlite3 duckdb mongo mongosh redis-cli sqlplus sqlcmd
  find curl wget tee dd patch cpio`);

/** Interpreters, at any path: with a file or without one, they run any text. */
const LANGUAGES = words(`
  sh bash dash zsh ksh mksh ash fish csh tcsh rbash xonsh elvish nu rc yash oil osh pwsh powershell
  python pypy ipython bpython jython micropython node nodejs deno bun qjs d8 js coffee ruby irb pry jruby perl raku rakudo
  php psysh lua luajit luau tclsh wish expect R Rscript r littler julia octave octave-cli scilab maxima gp gap sage gnuplot
  ghci runghc runhaskell ocaml utop iex elixir erl escript jshell scala amm groovy groovysh kotlin
  clojure clj sbcl clisp ecl ccl abcl gcl racket guile scheme mit-scheme chicken csi chez gosh gforth janet fennel hy
  swipl yap gprolog rust-script evcxr gore yaegi dotnet-script csi fsi osascript wolframscript math
  matlab io factor red rebol picolisp newlisp`);

/** Programs that start an interactive prompt when no subcommand is given. */
const PROMPTS = words('swift dart crystal nim kotlinc scala-cli bb lein');

/** Subcommands that apply the content of a file or of their input. */
const UNBOUNDED_SUBCOMMANDS: Readonly<Record<string, readonly string[]>> = {
  git: ['apply', 'am', 'fast-import', 'filter-branch', 'bisect', 'update-index', 'update-ref', 'hash-object', 'config'],
  go: ['run', 'generate'],
  dotnet: ['script', 'fsi'],
};

/** Interpreters whose first word may be a file of the project; the text of that file needs approval by itself. */
const INTERPRETERS = words('python node ruby perl php bash sh tsx ts-node');

const STANDARD_INPUT = /(^|=|^-[A-Za-z])(-|\/dev\/(stdin|fd\/\d+)|\/proc\/(self|\d+)\/fd\/\d+)$/;

/**
 * Returns why these words do not determine what runs: the program reads it from its input, from a file, or from further
 * words. Undefined where they do.
 */
export function unboundedReason([program = '', ...args]: readonly string[]): string | undefined {
  const language = program.replace(/^.*\//s, '').replace(/-?[\d.]+$/, '');
  const name = LANGUAGES.has(language) ? language : program;
  if (args.some((word) => STANDARD_INPUT.test(word))) return `${program} runs what it reads from its input`;
  const [first = ''] = args;
  if (INTERPRETERS.has(name) && first !== '' && !first.startsWith('-')) return undefined;
  const prompts = PROMPTS.has(language) && args.every((word) => word.startsWith('-'));
  if (UNBOUNDED_PROGRAMS.has(name) || LANGUAGES.has(name) || prompts)
    return `${program} can run anything, so a rule for it would allow anything`;
  if (UNBOUNDED_SUBCOMMANDS[name]?.includes(first))
    return `${program} ${first} applies any input, so a rule for it would allow anything`;
  if (isDataProgram(name)) return undefined;
  if (args.some((word) => /\s/.test(word) && readText(word, isUnbounded).length > 0))
    return `${program} would run a script of its own`;
  // Any word may be a program that it starts.
  const inner = args.findIndex((word, at) => isUnbounded(word) && unboundedReason(args.slice(at)) !== undefined);
  return inner === -1 ? undefined : `${program} may start ${args[inner]}, which can run anything`;
}

function isUnbounded(word: string): boolean {
  const language = word.replace(/^.*\//s, '').replace(/-?[\d.]+$/, '');
  return UNBOUNDED_PROGRAMS.has(word) || LANGUAGES.has(language);
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}
