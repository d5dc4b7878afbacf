import type { FlagTable, ParsedFlags } from '../../../shell/flags.ts';
import { plainWord, type ShellWord } from '../../../shell/words.ts';
import { awkProgram, jqProgram, sedScript } from './little-languages.ts';
import { atMostOne, each, printfFormat, scriptsOf, testFlags, testOperands } from './read-only-checks.ts';

export interface ReadOnlyCommand extends FlagTable {
  /** The kind of its operands. `text`: nothing on disk; `content`: files it opens; `named`: files it looks at. */
  operands: 'none' | 'text' | 'content' | 'named' | 'pattern';
  /** The files that it looks at without operands, where that is not the folder it runs in. */
  otherwise?: readonly ShellWord[];
  /** Options whose value is a file it opens. */
  files?: readonly string[];
  /** Options with which it opens what it finds in folders; `true` where it always does. */
  roams?: readonly string[] | true;
  /** A reason to ask, found in the options or operands. */
  refuse?(flags: ParsedFlags): string | undefined;
}

const CHECKSUM: ReadOnlyCommand = {
  tame: true,
  operands: 'content',
  alone: '-b -t -z --binary --text --tag --zero --quiet --status --strict --warn -w',
};
const GREP: ReadOnlyCommand = {
  tame: true,
  operands: 'pattern',
  alone:
    '-E -F -G -P -i -v -w -x -c -l -L -n -H -h -o -q -s -r -R -a -b -z -Z -T -I -U -y --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --files-with-matches --files-without-match --line-number --with-filename --no-filename --only-matching --quiet --silent --no-messages --recursive --dereference-recursive --text --byte-offset --null --null-data --initial-tab --line-buffered',
  takes:
    '-e -f -m -A -B -C -d -D --regexp --file --max-count --after-context --before-context --context --include --exclude --exclude-dir --exclude-from --directories --devices --binary-files --label',
  glued: '--color --colour',
  digits: true,
  files: ['-f', '--file', '--exclude-from'],
  roams: ['-r', '-R', '-d', '--recursive', '--dereference-recursive', '--directories'],
};

/** Only what stands here runs unasked, and only with these options. It runs in the sandbox's read mode all the same. */
export const READ_ONLY_COMMANDS: Readonly<Record<string, ReadOnlyCommand>> = {
  ls: {
    tame: true,
    operands: 'named',
    alone:
      '-a -A -l -h -t -r -R -S -1 -d -F -i -s -n -o -g -G -p -q -Q -u -U -v -x -X -c -C -m -L -H -k -b -B -f -N -Z --all --almost-all --human-readable --recursive --reverse --directory --classify --inode --size --numeric-uid-gid --no-group --group-directories-first --full-time --dereference --si --author --escape --literal --quote-name',
    takes: '-I -w -T --ignore --hide --width --tabsize',
    glued: '--color --sort --time --time-style --format --indicator-style --hyperlink --block-size --quoting-style',
  },
  cat: {
    tame: true,
    operands: 'content',
    alone:
      '-n -b -s -A -E -T -v -e -t -u --number --number-nonblank --squeeze-blank --show-all --show-ends --show-tabs --show-nonprinting',
  },
  tac: { tame: true, operands: 'content', alone: '-b -r --before --regex', takes: '-s --separator' },
  nl: { tame: true, operands: 'content', alone: '-p', takes: '-b -d -f -h -i -l -n -s -v -w' },
  head: {
    tame: true,
    operands: 'content',
    alone: '-q -v -z --quiet --silent --verbose',
    takes: '-n -c --lines --bytes',
    digits: true,
  },
  tail: {
    tame: true,
    operands: 'content',
    alone: '-q -v -z -r --quiet --silent --verbose',
    takes: '-n -c --lines --bytes',
    digits: true,
  },
  wc: { tame: true, operands: 'content', alone: '-l -w -c -m -L --lines --words --bytes --chars --max-line-length' },
  grep: GREP,
  egrep: GREP,
  fgrep: GREP,
  rg: {
    operands: 'pattern',
    alone:
      '-i -S -s -v -w -x -c -l -n -N -H -I -o -q -F -P -U -u -a -L -0 -p --files --hidden --no-ignore --no-ignore-vcs --ignore-case --smart-case --case-sensitive --invert-match --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --line-number --no-line-number --with-filename --no-filename --only-matching --quiet --fixed-strings --pcre2 --multiline --multiline-dotall --text --follow --null --vimgrep --heading --no-heading --stats --json --column --trim --no-messages --pretty --unrestricted --type-list --crlf --no-config --sort-files --passthru --debug',
    takes:
      '-e -f -g -t -T -A -B -C -m -M -j -r -E -d --regexp --file --glob --iglob --type --type-not --after-context --before-context --context --max-count --max-columns --max-depth --max-filesize --threads --replace --encoding --sort --sortr --color --colors --context-separator',
    glued: '--engine',
    files: ['-f', '--file'],
    roams: true,
  },
  find: {
    operands: 'named',
    longWithOneDash: true,
    alone:
      '-print -print0 -ls -prune -quit -depth -d -mount -xdev -follow -empty -readable -writable -executable -not -and -a -or -o -true -false -nouser -nogroup -daystart -noleaf -warn -nowarn -H -L -P',
    takes:
      '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -samefile -fstype -printf -lname -ilname -used -newermt -newerct',
    refuse: ({ operands }) =>
      operands.some(({ value }) => value !== null && /^[!(),]$/.test(value) === false && value.startsWith('-'))
        ? 'find has an unknown action'
        : undefined,
  },
  fd: {
    operands: 'pattern',
    alone:
      '-H -I -u -s -i -g -F -a -l -L -p -0 -1 -q --hidden --no-ignore --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --list-details --follow --full-path --print0 --quiet',
    takes:
      '-d -t -e -E -c -S -o --max-depth --min-depth --exact-depth --type --extension --exclude --color --size --changed-within --changed-before --max-results --base-directory',
    files: ['--base-directory'],
  },
  tree: {
    operands: 'named',
    alone:
      '-a -d -f -l -x -i -q -N -Q -p -u -g -s -h -D -F -v -t -c -U -r -n -C -J -X --dirsfirst --du --noreport --prune --gitignore --matchdirs --ignore-case',
    takes: '-L -P -I --filelimit --timefmt --charset --sort',
    // Their value is the next word; what is behind the letter are more letters.
    refuse: ({ options }) =>
      options.some(({ name, value }) => name.length === 2 && /^-(?!L\d+$)/.test(value?.seen ?? ''))
        ? 'tree may write a file'
        : undefined,
  },
  sort: {
    operands: 'content',
    alone:
      '-b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --check --merge --stable --unique --zero-terminated --debug',
    takes: '-k -t -S --key --field-separator --buffer-size --parallel --batch-size',
  },
  uniq: {
    operands: 'content',
    alone: '-c -d -D -i -u -z --count --repeated --ignore-case --unique',
    takes: '-f -s -w --skip-fields --skip-chars --check-chars',
    optionsFirst: true,
    refuse: atMostOne('uniq writes to its second file'),
  },
  cut: {
    tame: true,
    operands: 'content',
    alone: '-n -s -z --only-delimited --complement',
    takes: '-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter',
  },
  tr: { operands: 'text', alone: '-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1' },
  echo: { operands: 'text', alone: '-n -e -E', harmless: true },
  printf: { operands: 'text', refuse: printfFormat },
  date: {
    operands: 'text',
    alone: '-u -R --utc --universal --rfc-email',
    takes: '-d -r --date --reference',
    glued: '-I --iso-8601 --rfc-3339',
    refuse: ({ operands }) =>
      operands.every(({ value }) => value?.startsWith('+')) ? undefined : 'date may set the clock',
  },
  cal: { operands: 'text', alone: '-1 -3 -y -m -s -j' },
  sed: {
    operands: 'pattern',
    alone:
      '-n -E -r -s -u -z --quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --debug --sandbox',
    takes: '-e -l --expression --line-length',
    refuse: (flags) => each(scriptsOf(flags, '-e', '--expression'), sedScript),
  },
  awk: {
    operands: 'pattern',
    takes: '-F -v --field-separator --assign',
    refuse: (flags) => each(scriptsOf(flags), awkProgram),
  },
  gawk: {
    operands: 'pattern',
    takes: '-F -v --field-separator --assign',
    refuse: (flags) => each(scriptsOf(flags), awkProgram),
  },
  mawk: { operands: 'pattern', takes: '-F -v', refuse: (flags) => each(scriptsOf(flags), awkProgram) },
  jq: {
    operands: 'pattern',
    alone:
      '-r -c -n -e -s -S -C -M -a -R -j --raw-output --compact-output --null-input --exit-status --slurp --sort-keys --color-output --monochrome-output --ascii-output --raw-input --join-output --tab --stream --seq',
    takes: '--indent',
    refuse: (flags) => each(scriptsOf(flags), jqProgram),
  },
  file: {
    operands: 'content',
    alone: '-b -i -L -h -k -z -E --brief --mime --mime-type --mime-encoding --dereference --no-dereference',
    takes: '-F --separator',
  },
  stat: {
    tame: true,
    operands: 'named',
    alone: '-L -f -t --dereference --file-system --terse',
    takes: '-c --format --printf',
  },
  diff: {
    operands: 'content',
    alone:
      '-u -c -q -s -y -r -N -a -b -B -w -i -e -n -p -t -T -E -Z --unified --brief --recursive --new-file --text --ignore-space-change --ignore-blank-lines --ignore-all-space --ignore-case --side-by-side --report-identical-files --minimal --suppress-common-lines',
    takes: '-U -C -I -x -L -W --ignore-matching-lines --exclude --label --width --horizon-lines',
    glued: '--color --unified --context',
    // A folder is read too.
    roams: true,
  },
  cmp: {
    tame: true,
    operands: 'content',
    alone: '-b -l -s --print-bytes --verbose --quiet --silent',
    takes: '-i -n --ignore-initial --bytes',
  },
  comm: {
    tame: true,
    operands: 'content',
    alone: '-1 -2 -3 -z --check-order --nocheck-order --total',
    takes: '--output-delimiter',
  },
  join: {
    tame: true,
    operands: 'content',
    alone: '-i -z --ignore-case --header --check-order',
    takes: '-a -e -j -o -t -v -1 -2',
  },
  paste: { tame: true, operands: 'content', alone: '-s -z --serial', takes: '-d --delimiters' },
  column: { operands: 'content', alone: '-t -x -e -n -L --table', takes: '-s -o -c -N --separator --output-separator' },
  fold: { tame: true, operands: 'content', alone: '-b -s', takes: '-w --width' },
  fmt: { operands: 'content', alone: '-c -s -t -u', takes: '-w -g' },
  expand: { tame: true, operands: 'content', alone: '-i', takes: '-t' },
  unexpand: { tame: true, operands: 'content', alone: '-a', takes: '-t' },
  rev: { tame: true, operands: 'content' },
  od: {
    tame: true,
    operands: 'content',
    alone: '-a -b -c -d -f -i -l -o -s -x -v',
    takes: '-A -j -N -t -S',
    glued: '-w',
  },
  xxd: {
    operands: 'content',
    longWithOneDash: true,
    alone: '-a -b -e -E -i -p -u',
    takes: '-c -g -l -o -s',
    optionsFirst: true,
    refuse: atMostOne('xxd writes to its second file'),
  },
  hexdump: { tame: true, operands: 'content', alone: '-b -c -C -d -o -x -v', takes: '-e -n -s' },
  strings: {
    tame: true,
    operands: 'content',
    alone: '-a -f -w',
    takes: '-n -t -e',
    refuse: ({ operands, options }) =>
      [...operands, ...options.map(({ value }) => value)].some((word) => word?.value?.startsWith('@'))
        ? 'strings reads its arguments from a file'
        : undefined,
  },
  base64: { tame: true, operands: 'content', alone: '-d -i --decode --ignore-garbage', takes: '-w --wrap' },
  base32: { tame: true, operands: 'content', alone: '-d -i --decode', takes: '-w --wrap' },
  md5sum: CHECKSUM,
  sha1sum: CHECKSUM,
  sha256sum: CHECKSUM,
  sha512sum: CHECKSUM,
  b2sum: CHECKSUM,
  cksum: CHECKSUM,
  zcat: { operands: 'content' },
  iconv: { operands: 'content', alone: '-c -l -s --list', takes: '-f -t --from-code --to-code' },
  basename: { tame: true, operands: 'text', alone: '-a -z --multiple --zero', takes: '-s --suffix' },
  dirname: { tame: true, operands: 'text', alone: '-z --zero' },
  realpath: {
    tame: true,
    operands: 'named',
    alone: '-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --strip --no-symlinks',
    takes: '--relative-to --relative-base',
  },
  readlink: { tame: true, operands: 'named', alone: '-f -e -m -n -q -s -z --canonicalize --no-newline' },
  pwd: { operands: 'none', alone: '-L -P' },
  cd: { operands: 'named', alone: '-L -P', otherwise: [{ ...plainWord('~'), value: null, home: true }] },
  true: { operands: 'text', harmless: true },
  false: { operands: 'text', harmless: true },
  ':': { operands: 'text', harmless: true },
  test: { operands: 'named', refuse: testOperands, ...testFlags() },
  '[': { operands: 'named', refuse: testOperands, ...testFlags() },
  which: { operands: 'text', alone: '-a' },
  type: { operands: 'text', alone: '-a -f -p -P -t' },
  seq: { operands: 'text', alone: '-w --equal-width', takes: '-f -s --format --separator' },
  expr: { operands: 'text' },
  sleep: { operands: 'text' },
  whoami: { operands: 'none' },
  id: { operands: 'text', alone: '-u -g -G -n -r --user --group --groups --name' },
  groups: { operands: 'text' },
  uname: { operands: 'none', alone: '-a -s -n -r -v -m -p -i -o --all' },
  hostname: { operands: 'none', alone: '-s -I' },
  arch: { operands: 'none' },
  nproc: { operands: 'none', alone: '--all' },
  uptime: { operands: 'none', alone: '-p -s' },
  df: {
    tame: true,
    operands: 'named',
    alone: '-a -h -H -i -k -l -P -T --all --human-readable --si --inodes --local --portability --print-type --total',
    takes: '-t -x -B',
  },
  du: {
    tame: true,
    operands: 'named',
    alone:
      '-a -b -c -h -H -k -L -l -m -P -s -S -x -0 --all --apparent-size --bytes --total --human-readable --summarize --separate-dirs --one-file-system',
    takes: '-d -t --max-depth --threshold --exclude',
  },
  free: { operands: 'none', alone: '-b -k -m -g -h -t -w --human --total' },
  ps: {
    operands: 'text',
    alone: '-a -A -e -f -F -l -w -x -u -j -H --forest --no-headers',
    takes: '-o -p -C -U -G --sort --pid --ppid',
    refuse: ({ operands, options }) =>
      operands.some(({ value, pattern }) => value === null || pattern || value.includes('e')) ||
      options.some(({ name, value }) => name === '-o' && /^$|environ/.test(value?.value ?? ''))
        ? 'ps may show environment variables of other processes'
        : undefined,
  },
  tar: {
    operands: 'named',
    alone: '-t -v -z -j -J -a --list --verbose --gzip --bzip2 --xz --auto-compress --numeric-owner --full-time',
    takes: '-f --file --exclude',
    // A first word without a dash is a cluster of options.
    optionsFirst: true,
    files: ['-f', '--file'],
    refuse: ({ options }) => {
      if (options.some(({ value }) => value?.value?.includes(':'))) return 'tar asks another machine for host:archive';
      return options.some(({ name }) => /^(-t|--list)$/.test(name)) ? undefined : 'tar only reads with -t';
    },
  },
  unzip: {
    operands: 'content',
    alone: '-l -v -Z -t',
    optionsFirst: true,
    refuse: ({ options }) =>
      options.some(({ name }) => ['-l', '-v', '-Z', '-t'].includes(name)) ? undefined : 'unzip writes files',
  },
  exit: { operands: 'text' },
  wait: { operands: 'text' },
  getconf: { operands: 'text', alone: '-a' },
  locale: { operands: 'text', alone: '-a -m' },
  lsof: { operands: 'named', alone: '-n -P -t', takes: '-p', glued: '-i' },
  cloc: { operands: 'content', roams: true },
  tput: { operands: 'text' },
  tty: { operands: 'none' },
};
