import { InvalidArgumentError } from 'commander';
import type { Words } from '../text/words.ts';

/** Converts `--set name=value` to flags of the configuration. */
export function settingsFrom(given: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(given.map((each) => [each.split('=')[0] ?? '', each.slice(each.indexOf('=') + 1)]));
}

/** Collects an option that may be given several times. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Parses an option that is a whole number from 0. */
export function wholeNumberOption({ wholeNumber }: Words): (value: string) => number {
  return (value) => {
    if (/^\d{1,9}$/.test(value)) return Number(value);
    throw new InvalidArgumentError(wholeNumber);
  };
}
