import { type FlagTable, parseFlags } from '../../shell/flags.ts';
import type { ShellWord } from '../../shell/words.ts';

const OUTPUT_OPTIONS = '-s -d --silent --quiet --verbose --no-color --color --no-progress --json --parseable --long';
const INSTALL: FlagTable = {
  alone: `${OUTPUT_OPTIONS} -D -S -E -O -f -P --save --save-dev --save-exact --save-optional --save-prod --save-peer --no-save --no-audit --no-fund --ignore-scripts --legacy-peer-deps --strict-peer-deps --prefer-offline --prefer-dedupe --offline --no-package-lock --package-lock-only --dry-run --force --production --foreground-scripts`,
  // The list of allowed hosts decides which registry it reaches.
  takes: '--omit --include --loglevel --registry',
};
const RUN: FlagTable = { alone: `${OUTPUT_OPTIONS} --if-present --ignore-scripts`, takes: '--loglevel -w --workspace' };

/** Ordinary uses of commands that change something. Other options may run anything. */
const ORDINARY_USES: Readonly<Record<string, Readonly<Record<string, FlagTable>>>> = {
  npm: {
    install: INSTALL,
    ci: INSTALL,
    test: RUN,
    run: RUN,
    ls: { alone: `${OUTPUT_OPTIONS} -a -g --all --global --production`, takes: '--depth --omit --include' },
  },
};

/** A package of the registry, not a folder, an archive or a repository. */
const PACKAGE = /^(@[\w.-]+\/)?[\w][\w.-]*(@[\w.^~<>=*+-]+)?$/;

/** Whether a command that can change files is used in an ordinary way. */
export function isOrdinaryUse(name: string, [first, ...args]: readonly ShellWord[]): boolean {
  const uses = Object.hasOwn(ORDINARY_USES, name) ? ORDINARY_USES[name] : undefined;
  const table = uses !== undefined && Object.hasOwn(uses, first?.value ?? '') ? uses[first?.value ?? ''] : undefined;
  if (table === undefined) return false;
  // The words behind it belong to the script.
  const end = table === RUN ? args.findIndex(({ value }) => value === '--') : -1;
  const flags = parseFlags(end === -1 ? args : args.slice(0, end), table);
  if ('unknown' in flags) return false;
  return table !== INSTALL || flags.operands.every(({ value }) => value !== null && PACKAGE.test(value));
}
