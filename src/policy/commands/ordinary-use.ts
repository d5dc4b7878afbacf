import { operandsAmong, type ShellWord } from '../../shell/words.ts';

/** Options of npm that only change its output, and what it installs from the registry. */
const OUTPUT = 's|d|-silent|-quiet|-verbose|-(?:no-)?color|-no-progress|-json|-parseable|-long|-loglevel(?:=\\w+)?';
const RUN = new RegExp(`^-(?:${OUTPUT}|-if-present|-ignore-scripts|w|-workspace(?:=\\S+)?)$`);
const INSTALL = new RegExp(
  `^-(?:${OUTPUT}|[DSEOfP]|-save(?:-dev|-exact|-optional|-prod|-peer)?|-no-(?:save|audit|fund|package-lock)|-ignore-scripts|-(?:legacy|strict)-peer-deps|-prefer-(?:offline|dedupe)|-offline|-package-lock-only|-dry-run|-force|-production|-foreground-scripts|-(?:omit|include)(?:=\\w+)?|-registry(?:=\\S+)?)$`,
);
/** The list of allowed hosts decides which registry it reaches. */
const TAKES_VALUE = /^--(?:registry|omit|include)$/;
const LIST = new RegExp(`^-(?:${OUTPUT}|a|g|-all|-global|-production|-depth=\\d+|-(?:omit|include)=\\w+)$`);

/** Ordinary uses of npm. Other options may run anything. */
const NPM_USES: Readonly<Record<string, RegExp>> = { install: INSTALL, ci: INSTALL, test: RUN, run: RUN, ls: LIST };

/** Options with which programs of the default list write a file or run another program. */
const UNUSUAL: Readonly<Record<string, RegExp>> = {
  find: /^-(delete|exec|ok|fprint|fls)/,
  sort: /^(-[a-zA-Z]*[oT]|--(o|compress|temp|files0))/,
  rg: /^--(pre|hostname-bin)/,
  git: /^--(output|ext-diff|textconv)/,
};

const LISTS_BRANCHES = /^(-[avqr]+|--(all|remotes|list|show-current|verbose|color|no-color|column|sort|format)(=.*)?)$/;

/** A package of the registry, not a folder, an archive or a repository. */
const PACKAGE = /^(@[\w.-]+\/)?[\w][\w.-]*(@[\w.^~<>=*+-]+)?$/;

/** Whether a command of the default list is used in the way for which it is listed. */
export function isOrdinaryUse(name: string, args: readonly ShellWord[]): boolean {
  if (name === 'npm') return isOrdinaryNpm(args);
  const unusual = Object.hasOwn(UNUSUAL, name) ? UNUSUAL[name] : undefined;
  if (args.some(({ seen }) => unusual?.test(seen))) return false;
  // The second operand of `uniq` is written.
  if (name === 'uniq') return operandsAmong(args).length < 2;
  const isBranch = name === 'git' && args[0]?.value === 'branch';
  return !isBranch || args.slice(1).every(({ seen }) => LISTS_BRANCHES.test(seen));
}

function isOrdinaryNpm([first, ...args]: readonly ShellWord[]): boolean {
  const subcommand = first?.value ?? '';
  const ordinary = Object.hasOwn(NPM_USES, subcommand) ? NPM_USES[subcommand] : undefined;
  if (ordinary === undefined) return false;
  // The words behind it belong to the script.
  const end = ordinary === RUN ? args.findIndex(({ value }) => value === '--') : -1;
  const own = end === -1 ? args : args.slice(0, end);
  return own.every(({ value }, at) => {
    if (value?.startsWith('-')) return ordinary.test(value);
    if (ordinary !== INSTALL) return true;
    return value !== null && (TAKES_VALUE.test(own[at - 1]?.value ?? '') || PACKAGE.test(value));
  });
}
