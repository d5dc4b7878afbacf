import { globMatcher, SHELL_WORD_GLOB } from '../kernel/text/glob.ts';

/** No file has a longer name. A longer pattern is not looked at: it counts as one that matches. */
const MAX_NAME_CHARACTERS = 255;

const SHORT_CLASSES = { ...SHELL_WORD_GLOB, classes: 'short' } as const;

/**
 * Whether a pattern may match a name in bash or in a smaller shell; letter case does not count. Shells disagree on where
 * a class with `[:`, `[=` or `[.` ends, so both readings count.
 */
export function wordGlobMatcher(pattern: string): (name: string) => boolean {
  if (isTooLong(pattern)) return () => true;
  const inBash = globMatcher(pattern, SHELL_WORD_GLOB);
  if (!/\[[:=.]/.test(pattern)) return inBash;
  const elsewhere = globMatcher(pattern, SHORT_CLASSES);
  return (name) => inBash(name) || elsewhere(name);
}

export function isTooLong(pattern: string): boolean {
  return pattern.length > MAX_NAME_CHARACTERS;
}
