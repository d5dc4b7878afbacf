import { isNamedSecret, isSecretKey } from './redact.ts';
import { secretBegins, TOKENS } from './token-shapes.ts';

/** What a record must not hold: texts that give themselves away by their shape, values we were told of, and named ones. */
export interface SecretHider {
  /** The same value where there is nothing to hide. */
  hide<T>(value: T): T;
  holds(value: unknown): boolean;
  /** As `hide`, and what stands under a name such as `password` as well. */
  hideArgs<T>(args: T): T;
  /** How much of a text can be hidden well before more of it comes: what follows may be the beginning of a secret. */
  certain(text: string): number;
  /** As `hide`, but only of values we were told of: in what is encrypted, a shape is chance. */
  hideKnown(text: string): string;
  /** One more value to hide from now on. */
  learn(value: string): void;
}

const HIDDEN = '[redacted]';

/** No token is shorter; nor is a value that is worth hiding. */
const SHORTEST_TOKEN = HIDDEN.length;
const SHORTEST_VALUE = 8;
/** Characters that wait for what comes after them: longer than private keys are. */
const MOST_HELD = 16 * 1024;

/** `known` are values such as those of the environment's own tokens; short ones would hide ordinary words. */
export function createHider(known: readonly string[] = []): SecretHider {
  let values = known;
  let { kept, shortest, test, all } = patternOf(values);

  /** On the path of every call, so it makes nothing. */
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
  /** The same object, which nobody changes, is recorded two or three times in a row: as the row, and in its event. */
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
    certain(text) {
      let length = secretBegins(text, kept);
      for (const { 0: found, index } of text.matchAll(all)) {
        const end = index + found.length;
        const mayGoOn = end === text.length && !kept.includes(found);
        if (end > length || mayGoOn) length = Math.min(length, index);
      }
      return text.length - length > MOST_HELD ? text.length : length;
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
  // Of two that begin alike the longer one is hidden, not its beginning.
  const kept = known.filter((value) => value.length >= SHORTEST_VALUE).sort((a, b) => b.length - a.length);
  const shortest = Math.min(SHORTEST_TOKEN, ...kept.map((value) => value.length));
  const source = [...kept.map(escaped), ...TOKENS].join('|');
  return { kept, shortest, test: new RegExp(source), all: new RegExp(source, 'g') };
}

/** Whether something was hidden in arguments that came back from a record: then the vault has what they were. */
export function wasHidden(args: unknown): boolean {
  if (typeof args === 'string') return args.includes(HIDDEN);
  if (typeof args !== 'object' || args === null) return false;
  return Object.entries(args).some(([key, value]) => key.includes(HIDDEN) || wasHidden(value));
}

/** Values of variables whose name says that they are secret. */
export function secretValues(variables: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(variables).flatMap(([name, value]) => (value && isSecretKey(name) ? [value] : []));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
