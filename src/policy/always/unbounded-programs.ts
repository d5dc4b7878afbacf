import { isDataProgram, readText } from '../../shell/inside-readings.ts';

/** Programs and languages that run or send what they are given besides their arguments, at any path and in any version. */
const UNBOUNDED = new Set(
  `sh bash dash zsh ksh mksh ash fish csh tcsh rbash xonsh elvish nu rc yash oil osh pwsh powershell busybox eval source . exec
  sudo doas su env xargs parallel watch expect at batch crontab
  awk gawk mawk sed ed ex vi vim nvim emacs gdb lldb m4 bc dc find curl wget tee dd patch cpio
  ssh scp sftp ftp telnet nc ncat socat rsync docker podman kubectl helm terraform ansible ansible-playbook
  psql mysql mariadb sqlite sqlite3 duckdb mongo mongosh redis-cli sqlplus sqlcmd
  python pypy ipython bpython jython micropython py node nodejs deno bun qjs d8 js tsx ts-node coffee ruby irb pry jruby perl raku
  rakudo php psysh lua luajit luau tclsh wish R Rscript r littler julia octave octave-cli scilab maxima gp gap sage gnuplot
  ghci runghc runhaskell ocaml utop iex elixir erl escript jshell scala amm groovy groovysh kotlin kotlinc swift dart crystal nim
  clojure clj bb lein sbcl clisp ecl ccl abcl gcl racket guile scheme mit-scheme chicken csi chez gosh gforth janet fennel hy
  swipl yap gprolog rust-script evcxr gore yaegi dotnet-script fsi osascript wolframscript math matlab io factor red rebol picolisp
  newlisp`.split(/\s+/),
);

/** Interpreters whose first word may be a file of the project. */
const TAKES_FILE = /^(?:python|node|ruby|perl|php|bash|sh|tsx|ts-node)[\d.]*$/;
const STANDARD_INPUT = /(^|=|^-[A-Za-z])(-|\/dev\/(stdin|fd\/\d+)|\/proc\/(self|\d+)\/fd\/\d+)$/;

/** Returns why these words do not determine what runs or what is sent, so that a rule for them covers anything; undefined where they do. */
export function unboundedReason([program = '', ...args]: readonly string[]): string | undefined {
  if (args.some((word) => STANDARD_INPUT.test(word))) return `${program} runs what it reads from its input`;
  const [first = ''] = args;
  if (TAKES_FILE.test(program) && first !== '' && !first.startsWith('-')) return undefined;
  if (isUnbounded(program)) return `${program} can run anything, so a rule for it would allow anything`;
  if (isDataProgram(program)) return undefined;
  if (args.some((word) => /\s/.test(word) && readText(word, isUnbounded).length > 0))
    return `${program} would run a script of its own`;
  // Any word may be a program that it starts.
  const inner = args.findIndex((word, at) => isUnbounded(word) && unboundedReason(args.slice(at)) !== undefined);
  return inner === -1 ? undefined : `${program} may start ${args[inner]}, which can run anything`;
}

function isUnbounded(word: string): boolean {
  return UNBOUNDED.has(word) || UNBOUNDED.has(word.replace(/^.*\//s, '').replace(/-?[\d.]+$/, ''));
}
