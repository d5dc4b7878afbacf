import { closeSync, fstatSync, type Stats } from 'node:fs';
import type { Result } from '../../kernel/result.ts';
import type { FilePolicy } from '../../kernel/world/file-policy.ts';
import { kindOf, type ProtectedPath } from '../../kernel/world/protected-path.ts';
import { createYielder } from '../../kernel/yielding.ts';
import { isCounted } from '../../secrets/judge-secret-file.ts';
import { contentOf, isFileJudged } from '../protected-paths/file-content.ts';
import type { WalkedPath } from './change-list.ts';
import type { OpenFolder } from './open-folder.ts';

/**
 * The paths of a workspace that must be hidden by now: by their names at any moment, by their content and other rules since the
 * last scan.
 */
export interface HiddenPaths {
  isHidden(path: WalkedPath, stat: Stats): boolean;
  /** Whether the copy of a file must not be seen under this path, by what the copy itself holds. */
  isSecretCopy(path: WalkedPath, copy: { readonly folder: OpenFolder; readonly name: string }): Promise<boolean>;
  /** Scans the workspace again. Returns the paths that are hidden now and were not, or the reverse; null when it cannot be scanned. */
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
      const { access, rule } = given.policy.judge(text, kindOf(stat));
      // Of such a name the content decides.
      const isFreed = rule?.unless === 'public content' && stat.isFile() && isFileJudged(text);
      return (access === 'hidden' && !isFreed) || isBelow(text, hidden);
    },
    async isSecretCopy({ text }, { folder, name }) {
      if (!isFileJudged(text)) return false;
      const fd = folder.openFile(name);
      if (fd === null) return false;
      try {
        const { isPublic, secret } = await contentOf({ fd, size: fstatSync(fd).size, path: text }, createYielder());
        const isNamed = given.policy.judge(text, 'file').access === 'hidden' && !isPublic;
        return isNamed || isCounted(secret ?? undefined, given.policy.countedSecrets(text));
      } finally {
        closeSync(fd);
      }
    },
    async refresh() {
      const found = await given.find();
      if (!found.ok) return null;
      const before = hidden;
      hidden = pathsOf(found.value);
      const now = hidden;
      return [...[...now].filter((path) => !before.has(path)), ...[...before].filter((path) => !now.has(path))];
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
