import { nearest } from '../../kernel/text/nearest.ts';
import { type CheckedSettings, checkText } from './check.ts';
import { SETTING_NAMES, type SettingName, variableOf } from './settings.ts';

export type Texts = Readonly<Record<string, string | undefined>>;

const PREFIX = 'TOOLWRIGHT_';

/** Variables of sandboxed commands: a Toolwright started by one finds them in its environment. */
const MARKS = new Set(['TOOLWRIGHT_CALL', 'TOOLWRIGHT_OWNED_BY', 'TOOLWRIGHT_RUN']);

/**
 * Checks TOOLWRIGHT_*. An empty variable counts as unset. Inside a sandboxed command TOOLWRIGHT_SANDBOX names the
 * sandbox of that command; nobody chose it, and "none" there must not override the user's file.
 */
export function checkEnvironment(env: Texts): CheckedSettings {
  const isMark = (name: string) => MARKS.has(name) || (name === 'TOOLWRIGHT_SANDBOX' && !!env['TOOLWRIGHT_CALL']);
  const ours = Object.entries(env).filter(([name, text]) => name.startsWith(PREFIX) && text !== '' && !isMark(name));
  return checkNamed(ours, 'variable', variableOf, (name) => name.slice(PREFIX.length));
}

/** Checks flags by the name of their setting, or as typed without dashes: `commandTimeout` and `command-timeout`. */
export function checkFlags(flags: Texts): CheckedSettings {
  const typed = Object.entries(flags).map(([name, text]) => [flagOf(name), text] as const);
  return checkNamed(typed, 'flag', flagOf, (name) => name);
}

/** `essence` is the part of a name that is compared for a suggestion. */
function checkNamed(
  given: readonly (readonly [name: string, text: string | undefined])[],
  kind: string,
  nameOf: (setting: SettingName) => string,
  essence: (name: string) => string,
): CheckedSettings {
  const settings = new Map(SETTING_NAMES.map((setting) => [nameOf(setting), setting]));
  const values = {};
  const problems: string[] = [];
  for (const [name, text] of given) {
    if (text === undefined) continue;
    const setting = settings.get(name);
    if (setting === undefined) {
      const [guess] = nearest(essence(name), [...settings.keys()].map(essence));
      const meant = [...settings.keys()].find((known) => essence(known) === guess);
      const next = meant === undefined ? `There are: ${[...settings.keys()].join(', ')}.` : `Did you mean ${meant}?`;
      problems.push(`There is no ${kind} ${name}. ${next}`);
      continue;
    }
    const checked = checkText(name, setting, text);
    Object.assign(values, checked.values);
    problems.push(...checked.problems);
  }
  return { values, problems };
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
