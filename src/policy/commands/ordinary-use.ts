import { type FlagTable, parseFlags } from '../../shell/flags.ts';
import type { ShellWord } from '../../shell/words.ts';

const HOW_IT_SPEAKS = '-s -d --silent --quiet --verbose --no-color --color --no-progress --json --parseable --long';
const INSTALL: FlagTable = {
  alone: `${HOW_IT_SPEAKS} -D -S -E -O -f -P --save --save-dev --save-exact --save-optional --save-prod --save-peer --no-save --no-audit --no-fund --ignore-scripts --legacy-peer-deps --strict-peer-deps --prefer-offline --prefer-dedupe --offline --no-package-lock --package-lock-only --dry-run --force --production --foreground-scripts`,
  // Which registry it reaches is for the list of allowed hosts to say.
  takes: '--omit --include --loglevel --registry',
};
const RUN: FlagTable = { alone: `${HOW_IT_SPEAKS} --if-present --ignore-scripts`, takes: '--loglevel -w --workspace' };

/** Uses of commands that change something, in the way that everybody expects of them. Other options may run anything. */
const ORDINARY: Readonly<Record<string, Readonly<Record<string, FlagTable>>>> = {
  npm: {
    install: INSTALL,
    ci: INSTALL,
    test: RUN,
    run: RUN,
    ls: { alone: `${HOW_IT_SPEAKS} -a -g --all --global --production`, takes: '--depth --omit --include' },
  },
};

/** A package of the registry, not a folder, an archive or a repository. */
const PACKAGE = /^(@[\w.-]+\/)?[\w][\w.-]*(@[\w.^~<>=*+-]+)?$/;

/** Whether a command that is not known to only read is used as it ordinarily is. */
export function isOrdinaryUse(name: string, [first, ...args]: readonly ShellWord[]): boolean {
  const uses = Object.hasOwn(ORDINARY, name) ? ORDINARY[name] : undefined;
  const table = uses !== undefined && Object.hasOwn(uses, first?.value ?? '') ? uses[first?.value ?? ''] : undefined;
  if (table === undefined) return false;
  // What stands behind is for the script.
  const end = table === RUN ? args.findIndex(({ value }) => value === '--') : -1;
  const flags = parseFlags(end === -1 ? args : args.slice(0, end), table);
  if ('unknown' in flags) return false;
  return table !== INSTALL || flags.operands.every(({ value }) => value !== null && PACKAGE.test(value));
}
