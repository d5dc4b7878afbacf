import { fail, type Result } from '../kernel/result.ts';
import { escapeRegex } from '../kernel/text/escape.ts';
import { MAX_KEY_LENGTH } from './content/private-keys.ts';
import { isNamedSecret, isSecretKey } from './secret-names.ts';
import { beginsKey, HIDDEN, secretBegins, TOKENS } from './token-shapes.ts';

/** Hides secrets in records: texts with the shape of a token, known values, and values under a name such as `password`. */
export interface SecretHider {
  /** Returns the same value where there is nothing to hide. */
  hide<T>(value: T): T;
  holds(value: unknown): boolean;
  /** As `hide`, and hides values under a name such as `password` as well. */
  hideArgs<T>(args: T): T;
  /** The length of the part of a text that is safe to hide before more of it comes: the rest may begin a secret. */
  certainLength(text: string): number;
  /** As `hide`, but only for known values: in encrypted text the shape of a token is chance. */
  hideKnown(text: string): string;
  /** One more value to hide from now on. */
  learn(value: string): void;
}

const MIN_TOKEN_LENGTH = HIDDEN.length;
/** Shorter values would hide ordinary words. */
const MIN_VALUE_LENGTH = 8;
/** Characters held back until more text comes: longer than any secret but a private key. */
const MAX_HELD_BACK = 16 * 1024;

/** `known` are values such as tokens of the environment. */
export function createHider(known: readonly string[] = []): SecretHider {
  let values = known;
  let { kept, shortest, test, all } = patternOf(values);

  /** Runs for every call, so it allocates nothing. */
  function holds(value: unknown, byName: boolean): boolean {
    if (typeof value === 'string') return value.length >= shortest && test.test(value);
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return value.some((item) => holds(item, byName));
    for (const key in value) {
      const inner = (value as Record<string, unknown>)[key];
      if ((key.length >= shortest && test.test(key)) || (byName && isNamedSecret(key, inner)) || holds(inner, byName))
        return true;
    }
    return false;
  }

  function hidden(value: unknown, byName: boolean): unknown {
    if (typeof value === 'string') return value.replace(all, HIDDEN);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => hidden(item, byName));
    const fields = Object.entries(value).map(([key, inner]) => {
      return [key.replace(all, HIDDEN), byName && isNamedSecret(key, inner) ? HIDDEN : hidden(inner, byName)];
    });
    return Object.fromEntries(fields);
  }

  const hide = <T>(value: T, byName: boolean): T => (holds(value, byName) ? (hidden(value, byName) as T) : value);
  /** The last values without a secret: one object, which is never changed, is recorded two or three times in a row. */
  let clean: unknown;
  let cleanArgs: unknown;
  return {
    holds: (value) => value !== clean && holds(value, false),
    hide(value) {
      if (value === clean) return value;
      const shown = hide(value, false);
      if (shown === value && typeof value === 'object') clean = value;
      return shown;
    },
    hideArgs(args) {
      if (args === cleanArgs) return args;
      const shown = hide(args, true);
      if (shown === args && typeof args === 'object') cleanArgs = args;
      return shown;
    },
    hideKnown: (text) => kept.reduce((now, value) => now.replaceAll(value, HIDDEN), text),
    certainLength(text) {
      let length = secretBegins(text, kept);
      for (const { 0: found, index } of text.matchAll(all)) {
        const end = index + found.length;
        const mayGoOn = end === text.length && !kept.includes(found);
        if (end > length || mayGoOn) length = Math.min(length, index);
      }
      const most = beginsKey(text.slice(length)) ? MAX_KEY_LENGTH : MAX_HELD_BACK;
      return text.length - length > most ? text.length : length;
    },
    learn(value) {
      if (values.includes(value)) return;
      values = [...values, value];
      ({ kept, shortest, test, all } = patternOf(values));
      clean = cleanArgs = undefined;
    },
  };
}

function patternOf(known: readonly string[]): { kept: string[]; shortest: number; test: RegExp; all: RegExp } {
  // The longest first: of two values that begin alike, the longer one is hidden as a whole.
  const kept = known.filter((value) => value.length >= MIN_VALUE_LENGTH).sort((a, b) => b.length - a.length);
  const shortest = Math.min(MIN_TOKEN_LENGTH, ...kept.map((value) => value.length));
  const source = [...kept.map(escapeRegex), ...TOKENS].join('|');
  return { kept, shortest, test: new RegExp(source), all: new RegExp(source, 'g') };
}

/** Whether something is hidden in arguments read from a record: the vault then has the original. */
export function wasHidden(args: unknown): boolean {
  if (typeof args === 'string') return args.includes(HIDDEN);
  if (typeof args !== 'object' || args === null) return false;
  return Object.entries(args).some(([key, value]) => key.includes(HIDDEN) || wasHidden(value));
}

/** The folders in which a shell is and was. Their names read like those of passwords. */
const SHELL_FOLDERS = new Set(['PWD', 'OLDPWD']);

/** The values of environment variables with a name such as `API_KEY`. */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value && isSecretKey(name) && !SHELL_FOLDERS.has(name) ? [value] : [],
  );
}

/** The error for rules that hold a secret: a rule is saved as it is written, and shown to all who may look. */
export function refuseSecretInRule(hider: SecretHider, rules: readonly string[]): Result<never> | undefined {
  const found = rules.find((rule) => hider.holds(rule));
  if (found === undefined) return undefined;
  const next = 'Write one without the secret, or answer for this call alone.';
  return fail('INVALID_INPUT', `The rule "${hider.hide(found)}" would save a secret where others read it. ${next}`);
}
