import { walkCommands } from '../policy/walk-commands.ts';

/** Subcommands that print what files held, whatever else they are told. */
const ALWAYS = new Set('grep blame annotate cat-file archive format-patch'.split(' '));
/** Those that do unless they are told to print something else, and those that do if they are told to. */
const UNLESS = new Set('show diff diff-tree diff-files diff-index whatchanged'.split(' '));
const IF = new Set('log reflog stash rev-list shortlog status commit'.split(' '));

const SUMMARY =
  /^(-s|--no-patch|--stat|--numstat|--shortstat|--dirstat|--summary|--name-only|--name-status|--raw|--quiet)(=|$)/;
const CONTENT =
  /^(-[a-zA-Z]*[puUWcL]|-[a-zA-Z]*v|-L.+|--patch.*|--unified|--cc|--word-diff.*|--function-context|--binary|--full-diff|--verbose|--text)(\d|=|$)/;

/** The folders in which a command may print what files of a repository held, also those that are not there any more. */
export function gitContents(command: string, cwd = '.'): readonly string[] {
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

/** Any word may be the subcommand: which one is told by options that git has not told us about. */
function printsContent(given: readonly string[]): boolean {
  const tells = given.some((each) => CONTENT.test(each));
  const summarises = given.some((each) => SUMMARY.test(each));
  // Of a name that leads to a file's content, `show` prints that content, whatever it is told of summaries.
  const mayNameContent = given.some((each) => each !== 'show' && !each.startsWith('-'));
  return given.some((word) => {
    if (UNLESS.has(word)) return tells || (word === 'show' && mayNameContent) || !summarises;
    return ALWAYS.has(word) || (IF.has(word) && tells);
  });
}
