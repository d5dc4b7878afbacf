import { pathMatcher } from '../../kernel/path-pattern.ts';
import type { RealPlace } from '../../kernel/ports.ts';
import type { Rule } from './rule.ts';

/** A file that a call uses, by the name it was given and by the place where it is. */
interface Used {
  readonly path: string;
  readonly real: RealPlace;
  /** More than reading: then a folder is used with all that is in it. */
  readonly changes: boolean;
}

export interface FoundRule {
  readonly rule: Rule;
  readonly by: 'name' | 'below' | 'maybe below';
}

/**
 * The strictest of the rules about it, which come strictest first; one that only may be about it refuses nothing. What is
 * allowed is allowed by both names; what is held back, by either, and with a folder also if it is in that.
 */
export function strictestRule(rules: readonly Rule[], { path, real, changes }: Used): FoundRule | undefined {
  const names = [...new Set([path, real.path])];
  const found = rules.flatMap((rule): FoundRule[] => {
    const by = rule.verdict === 'allow' ? allowed(rule, names) : heldBack(rule, names, real.folder, changes);
    return by === undefined ? [] : [{ rule, by }];
  });
  return found.find(({ rule, by }) => rule.verdict === 'deny' && by !== 'maybe below') ?? found[0];
}

function allowed(rule: Rule, names: readonly string[]): FoundRule['by'] | undefined {
  return names.every((name) => rule.matchesPath(name)) ? 'name' : undefined;
}

function heldBack(
  rule: Rule,
  names: readonly string[],
  folder: boolean,
  changes: boolean,
): FoundRule['by'] | undefined {
  if (names.some((name) => rule.matchesPath(name))) return 'name';
  if (!folder) return undefined;
  if (names.some((name) => rule.matchesPath(`${name === '' ? '' : `${name}/`}${ANY_NAME}`))) return 'below';
  if (!changes) return undefined;
  const below = names.map((name) => rule.reachesBelow(name));
  return below.includes('below') ? 'below' : below.find((each) => each !== undefined);
}

/** What no rule names: one that matches it matches whatever is in the folder. */
const ANY_NAME = '\0';

/**
 * Whether a pattern is about something below a folder. Only maybe where a wildcard stands for a name on the way to it:
 * not every folder that fits holds such a thing.
 */
export function reachesBelow(pattern: string): (folder: string) => 'below' | 'maybe below' | undefined {
  const written = pattern.split('/');
  const parts = written.map((part) => ({ deep: part.includes('**'), matches: pathMatcher(part) }));
  // Stars at the end are about anything that is there.
  const named = written.slice(0, written.findLastIndex((part) => !/^\*+$/.test(part)) + 1);
  const exact = !named.some((part) => /[*?]/.test(part));
  return (folder) => {
    const names = folder === '' ? [] : folder.split('/');
    for (const [index, name] of names.entries()) {
      const part = parts[index];
      if (part?.deep) return 'maybe below';
      if (!part?.matches(name)) return undefined;
    }
    if (parts.length <= names.length) return undefined;
    return exact || names.length >= named.length ? 'below' : 'maybe below';
  };
}
