import { walkCommands } from '../shell/walk-commands.ts';

/** Subcommands that always print the content of files. */
const ALWAYS = new Set('grep blame annotate cat-file archive format-patch'.split(' '));
/** Subcommands that do unless an option asks for a summary. */
const UNLESS_SUMMARY = new Set('show diff diff-tree diff-files diff-index whatchanged'.split(' '));
/** Subcommands that do if an option asks for content. */
const IF_ASKED = new Set('log reflog stash rev-list shortlog status commit'.split(' '));

const SUMMARY =
  /^(-s|--no-patch|--stat|--numstat|--shortstat|--dirstat|--summary|--name-only|--name-status|--raw|--quiet)(=|$)/;
const CONTENT =
  /^(-[a-zA-Z]*[puUWcL]|-[a-zA-Z]*v|-L.+|--patch.*|--unified|--cc|--word-diff.*|--function-context|--binary|--full-diff|--verbose|--text)(\d|=|$)/;

/** The folders in which a command may print the content of files in a repository, including deleted ones. */
export function historyFoldersPrinted(command: string, cwd = '.'): readonly string[] {
  const found = new Set<string>();
  walkCommands(command, cwd, ({ name, args, folders }) => {
    if (name !== 'git') return;
    const given = args.map(({ value }) => value);
    const known = given.filter((word) => word !== null);
    if (known.length === given.length && !printsContent(known)) return;
    for (const folder of folders) found.add(folder);
  });
  return [...found];
}

/** Any word may be the subcommand: which one it is depends on options that are not known here. */
function printsContent(given: readonly string[]): boolean {
  const tells = given.some((each) => CONTENT.test(each));
  const summarises = given.some((each) => SUMMARY.test(each));
  // `git show NAME:FILE` prints the content of the file, even with an option for a summary.
  const mayNameContent = given.some((each) => each !== 'show' && !each.startsWith('-'));
  return given.some((word) => {
    if (UNLESS_SUMMARY.has(word)) return tells || (word === 'show' && mayNameContent) || !summarises;
    return ALWAYS.has(word) || (IF_ASKED.has(word) && tells);
  });
}
