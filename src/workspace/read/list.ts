import { catchErrnoAsync } from '../../host/errno.ts';
import type { Folder } from '../../host/folder.ts';
import { infoOf, notFound } from '../../host/open-file.ts';
import { visitTree } from '../../host/visit-tree.ts';
import { ok, type Result } from '../../kernel/result.ts';
import type { ListedEntry, Listing, ListQuery } from '../../kernel/world/workspace.ts';
import type { WorkspaceRoot } from '../workspace-root.ts';

/** Names, types, sizes and times. A sensitive file is named, a sensitive folder not entered. */
export async function listFolder(root: WorkspaceRoot, path: string, query: ListQuery): Promise<Result<Listing>> {
  const located = root.locate(path, { last: 'follow' });
  if (!located.ok) return located;
  const spot = located.value;
  return catchErrnoAsync(path, async () => {
    try {
      if (spot.stat === null) return notFound(spot.path);
      const folder = spot.name === '' ? spot.folder : spot.folder.openChild(spot.name);
      try {
        return ok(await entries(root, folder, query));
      } finally {
        if (folder !== spot.folder) folder.close();
      }
    } finally {
      spot.folder.close();
    }
  });
}

async function entries(root: WorkspaceRoot, top: Folder, query: ListQuery): Promise<Listing> {
  const found: ListedEntry[] = [];
  let complete = true;
  await visitTree(
    top,
    ({ folder, name, type }) => {
      if (!query.includeHidden && name.startsWith('.')) return 'pass';
      if (found.length >= query.limit) {
        complete = false;
        return 'stop';
      }
      const stat = folder.stat(name);
      if (stat === null) return 'pass';
      const path = folder.pathOf(name);
      const { size, modified } = infoOf(path, stat);
      const state = query.withState ? { state: `${stat.ino} ${stat.ctimeMs}` } : {};
      found.push({ name: top.path === '' ? path : path.slice(top.path.length + 1), type, size, modified, ...state });
      return query.recursive && root.refuses(path, type).ok ? 'enter' : 'pass';
    },
    { everything: true },
  );
  return { path: top.path === '' ? '.' : top.path, entries: found, complete };
}
