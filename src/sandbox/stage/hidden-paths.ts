import type { Stats } from 'node:fs';
import type { Result } from '../../kernel/result.ts';
import type { FilePolicy } from '../../kernel/world/file-policy.ts';
import type { ProtectedPath } from '../../kernel/world/protected-path.ts';
import type { WalkedPath } from './change-list.ts';

/** The paths of a workspace that must be hidden by now: by their names at any moment, by other rules since the last scan. */
export interface HiddenPaths {
  isHidden(path: WalkedPath, stat: Stats): boolean;
  /** Scans the workspace again. Returns the paths that are new among the hidden ones, null when it cannot be scanned. */
  refresh(): Promise<readonly string[] | null>;
}

export function createHiddenPaths(given: {
  readonly policy: FilePolicy;
  /** As `find` returned them last. */
  readonly hidden: readonly ProtectedPath[];
  find(): Promise<Result<readonly ProtectedPath[]>>;
}): HiddenPaths {
  let hidden = pathsOf(given.hidden);
  return {
    isHidden({ text }, stat) {
      // A symlink is only a path: what it leads to is hidden by the scan.
      if (stat.isSymbolicLink()) return false;
      return given.policy.judge(text).access === 'hidden' || isBelow(text, hidden);
    },
    async refresh() {
      const found = await given.find();
      if (!found.ok) return null;
      const before = hidden;
      hidden = pathsOf(found.value);
      return [...hidden].filter((path) => !before.has(path));
    },
  };
}

/** Whether it is one of these paths, or lies below one. */
function isBelow(path: string, paths: ReadonlySet<string>): boolean {
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (paths.has(path.slice(0, end))) return true;
  }
  return false;
}

function pathsOf(all: readonly ProtectedPath[]): ReadonlySet<string> {
  return new Set(all.map(({ path }) => path));
}
