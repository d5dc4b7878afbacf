import { Folder } from '../host/folder.ts';
import { Mutex } from '../host/mutex.ts';
import type { PathDecisions } from '../kernel/world/path-decisions.ts';
import type { Sandbox } from '../kernel/world/sandbox.ts';
import type { WorkspaceView, World } from '../kernel/world/workspace.ts';
import { SecretHardLinks } from '../secrets/secret-hard-links.ts';
import { findUnagreed } from './authorship/find-unagreed.ts';
import type { Writer } from './change/prepared-change.ts';
import { filesFor } from './files.ts';
import { searchFor } from './search/search-for.ts';
import { ChangeAuthors } from './watch/change-author.ts';
import { WorkspaceRoot } from './workspace-root.ts';

/** The parts of a workspace that a view of it shares. */
export interface ViewedWorkspace extends Pick<Writer, 'root' | 'seen' | 'values' | 'agentFiles'> {
  readonly decisions: PathDecisions;
  readonly ownFolders: readonly string[];
  readonly home: string | null;
  readonly sandbox: Sandbox | undefined;
  readonly images: Folder | null;
}

/**
 * Files and search over a view of the workspace. The paths and the rules about them are those of the workspace; nothing that is
 * written there reaches it, so nothing is journalled.
 */
export function overView(
  view: WorkspaceView,
  workspace: ViewedWorkspace,
): Pick<World, 'files' | 'search' | 'unagreed'> {
  const { root: real, seen, values, agentFiles, decisions, ownFolders, home, sandbox, images } = workspace;
  const root = new WorkspaceRoot(real.names.given, real.policy, { ownFolders, home, view: folderOf(view) });
  const shared = { root, seen, values, agentFiles, journal: undefined, authors: new ChangeAuthors() };
  // In the view secrets are masked, so they are looked for where they are.
  const secrets = new SecretHardLinks(real, { by: 'inode', images });
  const mutex = new Mutex();
  return {
    files: (caller) => filesFor(caller, { ...shared, secrets, session: caller.session }, (work) => mutex.run(work)),
    search: (caller) => searchFor(caller, { root, secrets, sandbox, stage: view.stage }),
    unagreed: () => findUnagreed({ root, record: agentFiles, decisions }),
  };
}

/** The same object as long as the view is the same. */
function folderOf(view: WorkspaceView): () => Folder {
  let folder = Folder.ofView(view.fd());
  return () => {
    if (folder.fd !== view.fd()) folder = Folder.ofView(view.fd());
    return folder;
  };
}
