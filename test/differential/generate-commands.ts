/** Command lines from a seed: mostly commands that only read, in every dress, with options and operands that do not. */
export function generateCommands(count: number, seed: number): string[] {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => script(random, 0));
}

type Random = <T>(choices: readonly T[]) => T;

function createRandom(seed: number): Random {
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

const FILES = [
  ...['a.txt', 'b.csv', 'src/index.ts', 'src', '.', '"with space.txt"', "'with space.txt'", 'data.json', 'docs/x.md'],
  ...['*.txt', '*', '?*', 'src/*', '[ab]*', 'missing.txt', '.hidden', './a.txt', 'src/../a.txt', 'link.txt', '-', "''"],
];
const HOSTILE_FILES = [
  '.env',
  '.e*',
  '../outside.txt',
  '/etc/passwd',
  '/etc/hosts',
  '$X',
  '"$HOME"',
  '~',
  '$(pwd)',
  'keys/id_rsa',
];
const TEXTS = [
  'a',
  '"two words"',
  "'q'",
  'x=1',
  '-n',
  '--',
  '"$PWD"',
  '\\;',
  '{}',
  '1,3p',
  'NR==1',
  '.',
  's/a/b/',
  'TODO',
  '%s',
  '+%F',
];
const FLAGS = [
  ...[
    '-l',
    '-a',
    '-n',
    '-r',
    '-c',
    '-i',
    '-v',
    '-h',
    '-1',
    '-R',
    '-s',
    '-u',
    '-z',
    '-q',
    '-b',
    '-E',
    '-w',
    '-t',
    '-f',
    '-o',
  ],
  ...[
    '-la',
    '-rn',
    '-n5',
    '-n 3',
    '-c 5',
    '-k1',
    '-d,',
    '-f1',
    '-10',
    '--all',
    '--color=never',
    '--count',
    '--help',
    '--version',
  ],
];
const HOSTILE_FLAGS = [
  ...[
    '-o out.txt',
    '--output=out.txt',
    '-i.bak',
    '-w out.txt',
    '-exec touch out.txt \\;',
    '-delete',
    '-fprint out.txt',
  ],
  ...[
    '--pre ./evil.sh',
    '--compress-program=./evil.sh',
    '-e touch',
    '-c core.pager=./evil.sh',
    '--ext-diff',
    '-x ./evil.sh',
  ],
  ...[
    '--files0-from=list',
    '-T /tmp',
    '--to-command=./evil.sh',
    '-I{} touch {}',
    '--exec ./evil.sh',
    '-ok rm {} \\;',
    '-S touch',
  ],
];
const READERS = [
  ...[
    'ls',
    'cat',
    'head',
    'tail',
    'wc',
    'grep',
    'rg',
    'find',
    'sort',
    'uniq',
    'cut',
    'tr',
    'echo',
    'printf',
    'date',
    'sed',
  ],
  ...[
    'awk',
    'jq',
    'file',
    'stat',
    'diff',
    'cmp',
    'comm',
    'join',
    'paste',
    'fold',
    'nl',
    'tac',
    'rev',
    'od',
    'xxd',
    'strings',
  ],
  ...[
    'base64',
    'md5sum',
    'sha256sum',
    'zcat',
    'iconv',
    'basename',
    'dirname',
    'realpath',
    'readlink',
    'pwd',
    'cd',
    'true',
  ],
  ...[
    'test',
    '[',
    'uname',
    'whoami',
    'id',
    'df',
    'du',
    'ps',
    'tar',
    'which',
    'type',
    'seq',
    'expr',
    'hostname',
    'nproc',
    'tree',
  ],
  ...[
    'egrep',
    'fgrep',
    'gawk',
    'mawk',
    'column',
    'fmt',
    'expand',
    'cksum',
    'hexdump',
    'locale',
    'getconf',
    'env',
    'printenv',
  ],
];
const GIT = [
  ...[
    'status',
    'log',
    'log --oneline -3',
    'diff',
    'diff HEAD',
    'show HEAD',
    'show HEAD:a.txt',
    'branch',
    'branch -a',
    'ls-files',
  ],
  ...[
    'rev-parse HEAD',
    'blame a.txt',
    'tag -l',
    'remote -v',
    'stash list',
    'shortlog -sn HEAD',
    'config --get user.name',
  ],
  ...[
    'log --output=out.txt',
    'diff --ext-diff',
    'grep TODO',
    'describe --always',
    'cat-file -p HEAD',
    'branch new',
    'reflog',
  ],
];
const WRITERS = [
  'touch out.txt',
  'tee out.txt',
  'rm a.txt',
  'mkdir d',
  'python3 -c 1',
  'sh evil.sh',
  './evil.sh',
  'cp a.txt c.txt',
];
const WRAPPERS = [
  ...[
    'timeout 5',
    'nice',
    'env',
    'env A=1',
    'command',
    'time',
    'nohup',
    'stdbuf -o0',
    'xargs',
    'exec',
    'builtin',
    'LC_ALL=C',
  ],
  ...['X=1', 'PATH=.:$PATH', 'setsid', 'ionice', '/usr/bin/env', '\\'],
];

const COMPUTED = [
  ...['$((x))', '$((1+2))', '$[x]', '&& [[ $x -eq 1 ]]', '&& [[ -n $x ]]'],
  ...['x:1', 'a:x', 'a[x]', 'x'].map((inner) => `\${${inner}}`),
];

function simple(random: Random): string {
  const kind = random(['reader', 'reader', 'reader', 'reader', 'reader', 'git', 'git', 'writer']);
  if (kind === 'git') return `git ${random(GIT)}`;
  if (kind === 'writer') return random(WRITERS);
  const words: string[] = [random(READERS)];
  for (let count = random([0, 1, 1, 2]); count > 0; count--) {
    words.push(random(random([0, 1, 2, 3, 4, 5]) === 0 ? HOSTILE_FLAGS : FLAGS));
  }
  for (let count = random([0, 1, 1, 2]); count > 0; count--) {
    words.push(random(random([FILES, FILES, TEXTS, TEXTS, FILES, TEXTS, HOSTILE_FILES])));
  }
  return words.join(' ');
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
  const shape = random(['one', 'one', 'one', 'pipe', 'pipe', 'list', 'and', 'loop', 'if', 'group', 'shell', 'heredoc']);
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
    default:
      return dressed(random);
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
