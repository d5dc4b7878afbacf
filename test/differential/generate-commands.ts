import { optionsOf } from './program-options.ts';

/** Command lines from a seed: mostly commands that only read, in every dress, with options and operands that do not. */
export function generateCommands(count: number, seed: number): string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => script(random, 0));
}

export type Random = <T>(choices: readonly T[]) => T;

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (choices) => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const share = ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    return choices[Math.floor(share * choices.length)] as never;
  };
}

const FILES = words(
  'a.txt b.csv src/index.ts src . data.json docs/x.md *.txt * ?* src/* [ab]* missing.txt .hidden ./a.txt src/../a.txt link.txt - list',
  `"with space.txt"|'with space.txt'|''|{a.txt,src}|$'a\\x2etxt'|a\\\n.txt`,
);
const HOSTILE_FILES = words(
  '.env .e* ../outside.txt /etc/passwd /etc/hosts $X "$HOME" ~ $(pwd) keys/id_rsa {.env,a.txt} ./evil.sh evil.sh out.txt @list',
);
const TEXTS = words('a \'q\' x=1 -n -- "$PWD" \\; {} 1,3p NR==1 . s/a/b/ TODO %s +%F 5 :', '"two words"');
const FLAGS = words(
  '-l -a -n -r -c -i -v -h -1 -R -s -u -z -q -b -E -w -t -f -o -la -rn -n5 -k1 -d, -f1 -10',
  '-n 3|-c 5|--all|--color=never|--count|--help|--version',
);
const HOSTILE_FLAGS = words(
  '--output=out.txt -i.bak -delete --compress-program=./evil.sh --ext-diff --files0-from=list --to-command=./evil.sh',
  '-o out.txt|-w out.txt|-exec touch out.txt \\;|-fprint out.txt|--pre ./evil.sh|-e touch|-c core.pager=./evil.sh',
  '-x ./evil.sh|-T /tmp|-I{} touch {}|--exec ./evil.sh|-ok rm {} \\;|-S touch|{-o,out.txt}',
);
const READERS = words(
  'ls cat head tail wc grep rg find sort uniq cut tr echo printf date sed awk jq file stat diff cmp comm join paste fold',
  'nl tac rev od xxd strings base64 md5sum sha256sum zcat iconv basename dirname realpath readlink pwd cd true test [',
  'uname whoami id df du ps tar which type seq expr hostname nproc tree egrep fgrep gawk mawk column fmt expand cksum',
  'hexdump locale getconf env printenv unzip lsof cal tput b2sum unexpand base32 sleep groups arch free uptime tty',
);
const GIT = words(
  'status log diff show branch ls-files reflog rev-parse blame tag remote stash shortlog config grep describe cat-file',
  'log --oneline -3|diff HEAD|show HEAD|show HEAD:a.txt|branch -a|rev-parse HEAD|blame a.txt|tag -l|remote -v|stash list',
  'shortlog -sn HEAD|config --get user.name|log --output=out.txt|diff --ext-diff|grep TODO|describe --always',
  'cat-file -p HEAD|branch new',
);
const WRITERS = words('touch out.txt|tee out.txt|rm a.txt|mkdir d|python3 -c 1|sh evil.sh|./evil.sh|cp a.txt c.txt');
const WRAPPERS = words(
  'nice env command time nohup xargs exec builtin LC_ALL=C X=1 PATH=.:$PATH setsid ionice /usr/bin/env \\',
  'timeout 5|env A=1|stdbuf -o0|env -i|xargs -n1|timeout -s KILL 5',
);

const COMPUTED = [
  ...['$((x))', '$((1+2))', '$[x]', '&& [[ $x -eq 1 ]]', '&& [[ -n $x ]]'],
  ...['x:1', 'a:x', 'a[x]', 'x'].map((inner) => `\${${inner}}`),
];

function simple(random: Random): string {
  const kind = random(['reader', 'reader', 'reader', 'reader', 'reader', 'git', 'git', 'writer']);
  if (kind === 'writer') return random(WRITERS);
  const program = kind === 'git' ? `git ${random(GIT)}` : random(READERS);
  const words: string[] = [program];
  for (let count = random([0, 1, 1, 2]); count > 0; count--) {
    const from = random(['own', 'own', 'own', 'common', 'common', 'hostile']);
    words.push(from === 'own' ? ownOption(program, random) : random(from === 'hostile' ? HOSTILE_FLAGS : FLAGS));
  }
  for (let count = random([0, 1, 1, 2]); count > 0; count--) {
    words.push(random(random([FILES, FILES, TEXTS, TEXTS, FILES, TEXTS, HOSTILE_FILES])));
  }
  return words.join(' ');
}

/** One that the program's own help names, whole, shortened or together with another, with a value or without. */
function ownOption(program: string, random: Random): string {
  const option = random(optionsOf(program));
  if (option === undefined) return random(FLAGS);
  const short = /^-\w$/.test(option);
  const spelled =
    random(['whole', 'whole', 'whole', 'whole', 'other']) === 'whole' ? option : respelled(option, random);
  const value = random(['', '', 'out.txt', './evil.sh', 'a.txt', '1', 'list', 'src', '%s', 'always', '.env']);
  if (value === '') return spelled;
  return `${spelled}${random(short ? ['', ' '] : ['=', ' '])}${value}`;
}

function respelled(option: string, random: Random): string {
  if (option.startsWith('--')) return option.slice(0, random([4, 5, 6, 8]));
  return option.length > 2 ? option : `${random(['-l', '-n', '-s', '-a', '-z'])}${option.slice(1)}`;
}

function dressed(random: Random): string {
  const command = simple(random);
  const dress = random([
    'plain',
    'plain',
    'plain',
    'plain',
    'computed',
    'wrapped',
    'redirected',
    'quoted',
    'substituted',
  ]);
  if (dress === 'computed') return `x='a[$(touch out.txt)]'; ${command} ${random(COMPUTED)}`;
  if (dress === 'wrapped') return `${random(WRAPPERS)} ${command}`;
  if (dress === 'redirected')
    return `${command} ${random(['2>/dev/null', '>/dev/null', '< a.txt', '2>&1', '> out.txt', '>> a.txt', '<<< text'])}`;
  if (dress === 'quoted')
    return command.replace(/^(\w)(\w*)/, random(["$1''$2", '"$1$2"', '\\$1$2', "'$1'$2", '/usr/bin/$1$2']));
  if (dress === 'substituted')
    return `echo ${random(['"$(', '$('])}${command}`.replace(/^(echo ("?)\$\(.*)$/s, '$1)$2');
  return command;
}

function script(random: Random, depth: number): string {
  const shape = random([
    'one',
    'one',
    'one',
    'pipe',
    'pipe',
    'list',
    'and',
    'loop',
    'if',
    'group',
    'shell',
    'heredoc',
    'kept',
    'rare',
  ]);
  const inner = () => (depth < 2 && random([true, false, false]) ? script(random, depth + 1) : dressed(random));
  switch (shape) {
    case 'pipe':
      return `${inner()} | ${dressed(random)}`;
    case 'list':
      return `${inner()}; ${dressed(random)}`;
    case 'and':
      return `${inner()} ${random(['&&', '||'])} ${dressed(random)}`;
    case 'loop':
      return `for i in ${random(['1 2', '*.txt', 'a b'])}; do ${inner()}; done`;
    case 'if':
      return `if ${dressed(random)}; then ${inner()}; fi`;
    case 'group':
      return random([`(${inner()})`, `{ ${inner()}; }`, `! ${dressed(random)}`]);
    case 'shell':
      return `bash -c ${quoted(inner())}`;
    case 'heredoc':
      return `cat <<${random(['E', "'E'"])}\n${dressed(random)}\n$(${dressed(random)})\nE`;
    case 'kept':
      return keptFirst(dressed(random), random);
    case 'rare':
      return random(RARE_SHAPES)(inner(), dressed(random));
    default:
      return dressed(random);
  }
}

/** One of its words is kept in a variable first, which then stands for it, quoted or not. */
function keptFirst(command: string, random: Random): string {
  const all = command.split(' ');
  const at = random([...all.keys()]);
  const place = random(['$v', '"$v"', ...['v', 'v:-x', 'v#x'].map((inner) => `\${${inner}}`)]);
  return `v=${quoted(all[at] ?? '')}; ${all.with(at, place).join(' ')}`;
}

const RARE_SHAPES: readonly ((inner: string, other: string) => string)[] = [
  (inner, other) => `while read -r v; do ${inner}; done < <(${other})`,
  (inner, other) => `f() { ${inner}; }; ${other}; f`,
  (inner, other) => `case x in x) ${inner};; *) ${other};; esac`,
  (inner, other) => `cd src && ${inner}; cd ..; ${other}`,
  (inner, other) => `${other} & ${inner}; wait`,
  (inner, other) => `set -- ${other}; ${inner} "$@"`,
  (inner, other) => `${inner} # ${other}`,
  (inner, other) => `${inner} <(${other})`,
  (inner, other) => `[[ -n $(${inner}) ]] && ${other}`,
  (inner, other) => `a=(${other}); ${inner} "\${a[@]}"`,
  (inner) => `eval ${quoted(inner)}`,
  (inner) => `find . -name a.txt | while read -r v; do ${inner} "$v"; done`,
];

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Words apart by spaces; where a line has bars, what stands between them. */
function words(...lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(line.includes('|') ? '|' : ' '));
}
