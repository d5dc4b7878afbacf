// The violations that are known and wait to be mended, in scripts/house-rules.json. The list may only shrink.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { ADVICE, type Rule, type Violation } from './violation.ts';

/** The size of each violation by rule and place. */
type KnownList = Partial<Record<Rule, Record<string, number>>>;

export interface Comparison {
  readonly known: readonly Violation[];
  /** Violations that are not on the list, or larger than the list says. */
  readonly added: readonly Violation[];
  /** Entries of the list that are no violation any more. */
  readonly mended: readonly Violation[];
}

export function compare(violations: readonly Violation[], known: readonly Violation[]): Comparison {
  const [now, listed] = [sizes(violations), sizes(known)];
  return {
    known,
    added: violations.filter((violation) => violation.size > (listed.get(keyOf(violation)) ?? 0)),
    mended: known.filter((entry) => !now.has(keyOf(entry))),
  };
}

/** The list without mended entries and with no size above that of today; nothing is added. */
export function shrink(violations: readonly Violation[], known: readonly Violation[]): Violation[] {
  const now = sizes(violations);
  return known.flatMap((entry) => {
    const size = now.get(keyOf(entry));
    return size === undefined ? [] : [{ ...entry, size: Math.min(size, entry.size) }];
  });
}

/** Undefined when there is no list. */
export function readKnown(file: string): Violation[] | undefined {
  if (!existsSync(file)) return undefined;
  const list = JSON.parse(readFileSync(file, 'utf8')) as KnownList;
  return Object.entries(list).flatMap(([rule, places]) =>
    Object.entries(places).map(([place, size]) => ({ rule: rule as Rule, place, size })),
  );
}

/** One entry a line, sorted, so that two branches seldom change the same line. */
export function writeKnown(file: string, violations: readonly Violation[]): void {
  const list: KnownList = {};
  for (const rule of Object.keys(ADVICE) as Rule[]) {
    const entries = violations.filter((violation) => violation.rule === rule);
    const places = entries
      .map(({ place, size }) => [place, size] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1));
    if (places.length > 0) list[rule] = Object.fromEntries(places);
  }
  writeFileSync(file, `${JSON.stringify(list, null, 2)}\n`);
}

/** Two functions of one name in one file are one entry, with the larger size. */
export function mergePlaces(violations: readonly Violation[]): Violation[] {
  const merged = new Map<string, Violation>();
  for (const violation of violations) {
    const earlier = merged.get(keyOf(violation));
    if (earlier === undefined || earlier.size < violation.size) merged.set(keyOf(violation), violation);
  }
  return [...merged.values()];
}

function sizes(violations: readonly Violation[]): Map<string, number> {
  return new Map(violations.map((violation) => [keyOf(violation), violation.size]));
}

function keyOf({ rule, place }: Violation): string {
  return `${rule}\n${place}`;
}
