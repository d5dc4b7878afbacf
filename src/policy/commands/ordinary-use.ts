import { type FlagTable, parseFlags } from '../../shell/flags.ts';
import { operandsAmong, type ShellWord } from '../../shell/words.ts';

const OUTPUT_OPTIONS = '-s -d --silent --quiet --verbose --no-color --color --no-progress --json --parseable --long';
const INSTALL: FlagTable = {
  alone: `${OUTPUT_OPTIONS} -D -S -E -O -f -P --save --save-dev --save-exact --save-optional --save-prod --save-peer --no-save --no-audit --no-fund --ignore-scripts --legacy-peer-deps --strict-peer-deps --prefer-offline --prefer-dedupe --offline --no-package-lock --package-lock-only --dry-run --force --production --foreground-scripts`,
  // The list of allowed hosts decides which registry it reaches.
  takes: '--omit --include --loglevel --registry',
};
const RUN: FlagTable = { alone: `${OUTPUT_OPTIONS} --if-present --ignore-scripts`, takes: '--loglevel -w --workspace' };

/** Ordinary uses of npm. Other options may run anything. */
const NPM_USES: Readonly<Record<string, FlagTable>> = {
  install: INSTALL,
  ci: INSTALL,
  test: RUN,
  run: RUN,
  ls: { alone: `${OUTPUT_OPTIONS} -a -g --all --global --production`, takes: '--depth --omit --include' },
};

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
  const table = Object.hasOwn(NPM_USES, subcommand) ? NPM_USES[subcommand] : undefined;
  if (table === undefined) return false;
  // The words behind it belong to the script.
  const end = table === RUN ? args.findIndex(({ value }) => value === '--') : -1;
  const flags = parseFlags(end === -1 ? args : args.slice(0, end), table);
  if ('unknown' in flags) return false;
  return table !== INSTALL || flags.operands.every(({ value }) => value !== null && PACKAGE.test(value));
}
