import type { PathDecision, PathDecisions } from './path-decisions.ts';

/** Decisions that a program keeps itself. */
export interface PathDecisionList extends PathDecisions {
  /** Replaces all decisions, from the next call on. */
  set(all: readonly PathDecision[]): void;
}

type ByPath = ReadonlyMap<string, readonly PathDecision[]>;

/** Creates a list of decisions in memory. Where they are recorded and who may make them is up to the program. */
export function createPathDecisions(first: readonly PathDecision[] = []): PathDecisionList {
  const listeners = new Set<(workspace: string) => void>();
  let held = byWorkspace(first);
  return {
    of(workspace, path) {
      const theirs = held.get(workspace);
      return theirs === undefined ? NONE : decisionsAbove(theirs, path);
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set(all) {
      const before = held;
      held = byWorkspace(all);
      for (const workspace of new Set([...before.keys(), ...held.keys()])) {
        if (asText(before.get(workspace)) === asText(held.get(workspace))) continue;
        for (const listener of listeners) listener(workspace);
      }
    },
  };
}

const NONE: readonly PathDecision[] = [];

function byWorkspace(all: readonly PathDecision[]): ReadonlyMap<string, ByPath> {
  const workspaces = Map.groupBy(all, ({ workspace }) => workspace);
  return new Map([...workspaces].map(([workspace, theirs]) => [workspace, Map.groupBy(theirs, ({ path }) => path)]));
}

function asText(decisions: ByPath | undefined): string {
  return JSON.stringify([...(decisions ?? [])]);
}

/** Those about the path itself and about a folder above it. A path that goes up again has none: it is not where it seems. */
function decisionsAbove(decisions: ByPath, path: string): readonly PathDecision[] {
  const names = path.split('/').filter((name) => name !== '' && name !== '.');
  if (names.includes('..')) return NONE;
  return names.flatMap((_, end) => decisions.get(names.slice(0, end + 1).join('/')) ?? []);
}
