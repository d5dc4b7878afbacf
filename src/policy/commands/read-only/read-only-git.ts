import { type FlagTable, openedValues, parseFlags } from '../../../shell/flags.ts';
import type { ShellWord } from '../../../shell/words.ts';
import type { ReadOnlyAnswer } from './read-only-use.ts';

const DIFF_ALONE =
  '-p -u -s -R -a -b -w -z -M -C -B -D --patch --no-patch --raw --stat --numstat --shortstat --dirstat --summary --patch-with-stat --name-only --name-status --check --full-index --binary --pickaxe-all --minimal --patience --histogram --cached --staged --no-color --no-renames --ignore-space-change --ignore-all-space --ignore-blank-lines --word-diff --no-index --exit-code --quiet --text --no-ext-diff --no-textconv --no-prefix --merge-base --function-context -W --compact-summary --cumulative';
const DIFF_TAKES = '-S -G -l --diff-filter --inter-hunk-context --word-diff-regex --src-prefix --dst-prefix';
// The value of these is glued on or left out: in `git diff -U .env`, .env is a file.
const DIFF_GLUED =
  '-U --unified --relative --stat --color --find-renames --find-copies --diff-algorithm --word-diff --abbrev --submodule --ignore-submodules --color-moved';
const LOG_ALONE = `${DIFF_ALONE} --oneline --graph --all --decorate --no-decorate --reverse --merges --no-merges --first-parent --follow --branches --tags --remotes --topo-order --date-order --left-right --cherry --cherry-pick --cherry-mark --boundary --no-walk --walk-reflogs -g --source --abbrev-commit --no-abbrev-commit --relative-date --parents --children --full-history --simplify-by-decoration --dense --sparse -i -E -F -c --cc -m --regexp-ignore-case --extended-regexp --fixed-strings --all-match --invert-grep --count --objects`;
const LOG_TAKES = `${DIFF_TAKES} -n -L --max-count --skip --since --after --until --before --author --committer --grep --date --exclude --glob`;
const LOG_GLUED = `${DIFF_GLUED} --pretty --format --encoding --date --decorate --branches --tags --remotes --show-notes`;

interface Subcommand extends FlagTable {
  /** Operands that are allowed; undefined allows any, and they name commits and files. */
  operands?: (operands: readonly ShellWord[]) => boolean;
  /** One of these options must be there: without it the subcommand changes something. */
  needs?: readonly string[];
  /** One of these words must stand directly behind the subcommand. */
  first?: readonly string[];
}

const none = (operands: readonly ShellWord[]) => operands.length === 0;
const LOG: Subcommand = { alone: LOG_ALONE, takes: LOG_TAKES, glued: LOG_GLUED, digits: true, singly: true };
/** `-L` is an option of `log` and its kin alone: others take what is behind it for an option. */
const REVISIONS: Subcommand = { ...LOG, takes: LOG_TAKES.replace(' -L', '') };
const DIFF: Subcommand = { alone: DIFF_ALONE, takes: DIFF_TAKES, glued: DIFF_GLUED, singly: true };

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  status: {
    alone: '-s -b -v -z --short --branch --long --verbose --no-renames --show-stash --ahead-behind --no-ahead-behind',
    glued: '--porcelain --untracked-files -u --ignored --ignore-submodules --column',
  },
  log: LOG,
  show: LOG,
  whatchanged: LOG,
  shortlog: {
    ...REVISIONS,
    alone: `${LOG_ALONE} -e -n --numbered --email --committer`,
    takes: LOG_TAKES.replace(' -n', '').replace(' -L', '').replace(' --committer', ''),
  },
  'rev-list': REVISIONS,
  diff: DIFF,
  'diff-tree': { ...DIFF, alone: `${DIFF_ALONE} -r -t --root --no-commit-id --pretty` },
  'diff-files': DIFF,
  'diff-index': DIFF,
  branch: {
    alone: '-a -r -v -vv -l --all --remotes --list --verbose --show-current --no-color --ignore-case',
    takes: '--contains --no-contains --merged --no-merged --points-at --sort --format',
    glued: '--column --color',
    operands: none,
  },
  tag: {
    alone: '-l -n --list',
    takes: '--contains --merged --points-at --sort --format',
    glued: '-n --column',
    needs: ['-l', '--list', '-n', '--contains', '--merged', '--points-at'],
  },
  remote: { alone: '-v --verbose', operands: (operands) => operands.length === 0 || operands[0]?.value === 'get-url' },
  grep: {
    alone:
      '-n -i -l -L -c -w -v -h -H -E -F -G -P -o -q -p -W -a -I --line-number --ignore-case --name-only --files-with-matches --count --word-regexp --invert-match --extended-regexp --fixed-strings --perl-regexp --cached --untracked --no-index --heading --break --and --or --not --all-match --show-function --recursive',
    takes: '-e -A -B -C -m --max-depth --threads --context --max-count',
  },
  blame: {
    alone: '-l -t -f -n -s -e -w -p -c --porcelain --line-porcelain --show-name --show-number --root',
    takes: '-L --since --date --ignore-rev',
    glued: '-M -C',
  },
  'ls-files': {
    alone:
      '-c -d -o -i -s -u -k -m -t -v -z --cached --deleted --others --ignored --stage --unmerged --modified --directory --full-name --exclude-standard --error-unmatch --eol',
    takes: '-x --exclude --format',
  },
  'ls-tree': {
    alone: '-d -r -t -l -z --name-only --name-status --full-name --full-tree --long --object-only',
    takes: '--format',
  },
  'rev-parse': {
    alone:
      '--verify --short --abbrev-ref --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --all --branches --tags --git-common-dir --quiet -q',
    glued: '--short --abbrev-ref',
  },
  describe: {
    alone: '--all --tags --contains --long --always --dirty --exact-match --first-parent',
    takes: '--match --exclude --candidates',
    glued: '--abbrev --dirty',
  },
  'cat-file': { alone: '-t -s -e -p --batch-check --batch-all-objects' },
  'for-each-ref': { alone: '--shell', takes: '--count --sort --format --points-at --contains --merged' },
  'merge-base': { alone: '-a --all --is-ancestor --octopus --fork-point' },
  'name-rev': { alone: '--tags --name-only --all' },
  'count-objects': { alone: '-v -H' },
  'show-ref': { alone: '--head --heads --tags -d -s -q --verify --quiet' },
  'symbolic-ref': { alone: '--short -q', operands: (operands) => operands.length <= 1 },
  'check-ignore': { alone: '-q -v -n --quiet --verbose --non-matching --no-index' },
  reflog: {
    ...LOG,
    operands: (operands) =>
      operands.every(({ value }) => value !== null && !['expire', 'delete', 'drop', 'write'].includes(value)),
  },
  // `show` sorts its words, so that a value may come to stand behind another option.
  stash: { ...REVISIONS, takes: '', first: ['list', 'show'] },
  config: {
    alone: '-l --list --get --get-all --get-regexp --show-origin --show-scope --global --local --system --name-only',
    needs: ['-l', '--list', '--get', '--get-all', '--get-regexp'],
    optionsFirst: true,
  },
  worktree: { alone: '--porcelain', operands: (operands) => operands[0]?.value === 'list' },
  submodule: { operands: (operands) => operands[0]?.value === 'status' },
  version: {},
  help: { operands: none },
};

/** Options before the subcommand that change nothing but how it speaks. `-c`, `--git-dir` and their kin change what runs. */
const GLOBAL: FlagTable = { alone: '--no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects' };

/** Whether a git command only reads. The history is not masked, so sensitive paths are named. */
export function gitCommand(args: readonly ShellWord[]): ReadOnlyAnswer {
  const at = args.findIndex(({ value }) => value === null || !value.startsWith('-'));
  const name = args[at]?.value;
  const before = parseFlags(at === -1 ? args : args.slice(0, at), GLOBAL);
  if ('unknown' in before) return { why: `git ${before.unknown} changes what git runs` };
  if (name === null || name === undefined) return { why: 'git without a known subcommand' };
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (subcommand === undefined) return { why: `git ${name} can change files` };
  if (subcommand.first?.includes(args[at + 1]?.value ?? '') === false)
    return { why: `git ${name} only reads with ${subcommand.first.join(' or ')}` };
  const flags = parseFlags(args.slice(at + 1), subcommand);
  if ('unknown' in flags) return { why: `git ${name} ${flags.unknown} can change files` };
  if (flags.options.some(({ value }) => CHECKS_SIGNATURES.test(value?.value ?? '')))
    return { why: `git ${name} starts another program to check signatures` };
  if (flags.options.some(({ name: option, value }) => /^--(?:format|pretty)$/.test(option) && value?.value === null))
    return { why: `git ${name} has a format that is computed at run time` };
  if (subcommand.operands !== undefined && flags.operands.some(({ pattern }) => pattern))
    return { why: `git ${name} may change something with these arguments` };
  if (subcommand.operands?.(flags.operands) === false)
    return { why: `git ${name} may change something with these arguments` };
  const needed = subcommand.needs;
  if (needed !== undefined && !flags.options.some((option) => needed.includes(option.name))) {
    return { why: `git ${name} may change something without ${needed.join(' or ')}` };
  }
  const ranges = flags.options.filter((option) => option.name === '-L').flatMap(({ value }) => value ?? []);
  // Outside a repository, two operands of `diff` are files or folders.
  const isOfTwo = name === 'diff' && flags.operands.length === 2;
  const roams = isOfTwo || flags.options.some((option) => READS_UNTRACKED.has(option.name));
  return {
    content: [...flags.operands, ...openedValues(flags), ...ranges.map(fileOfRange)].map(pathOfObject),
    named: [],
    roams,
  };
}

/** With these it opens files that are not in the repository, also in folders. */
const READS_UNTRACKED = new Set(['--no-index', '--untracked']);

/** Placeholders of a format. */
const CHECKS_SIGNATURES = /%[-+ ]?G|%\(\*?signature/;

/** `1,9:.env` and `:name:.env` read that file's history. */
function fileOfRange(word: ShellWord): ShellWord {
  return { ...word, value: word.value?.replace(/^.*:/s, '') ?? null };
}

/** `HEAD:.env` reads a file of that name from the history. */
function pathOfObject(word: ShellWord): ShellWord {
  if (word.value === null || word.value.startsWith('/')) return word;
  // `:0:path`, `:(top)path` and `:/path` name one too; and git itself expands what looks like a pattern.
  const path = /^(?:[^:]*:)?(?::?[0-3]:|:?\([^)]*\)|:?[/^!]*)?(.+)$/s.exec(word.value)?.[1] ?? word.value;
  return { ...word, value: path, pattern: word.pattern || /[*?[]/.test(path) };
}
