import { linkSync, renameSync, symlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { catchErrno, catchErrnoAsync } from '../../host/errno.ts';
import { failpoint } from '../../kernel/failpoint.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { obeyedDigest } from '../authorship/obeyed-digest.ts';
import { copySymlinkOwnership } from '../change/copy-ownership.ts';
import { copyFile } from '../change/copy-tree.ts';
import { alteredAt, conflictAt, isSame } from '../change/expectation.ts';
import { type PreparedChange, type SetScope, tempName, type Writer } from '../change/prepared-change.ts';
import type { RecordedTake, Snapshot } from '../journal/change-set.ts';
import type { CheckedTake, ReplacedFile } from './checked-take.ts';

interface ReplacingTake extends CheckedTake {
  readonly old: ReplacedFile;
}

/**
 * A file or symlink that replaces one: a copy beside it gets the owner of the old one and the permissions and time of the
 * staged one, then its name. The old one is kept by the journal.
 */
export function prepareTakeOver(
  { journal }: Writer,
  scope: SetScope,
  { change, staged, old }: ReplacingTake,
): PreparedChange {
  const { path } = old.spot;
  const above = dirname(path);
  const beside = tempName();
  const temp = above === '.' ? beside : `${above}/${beside}`;
  const mode = (change.mode ?? staged.stat.mode) & 0o1777;
  const image = journal?.snapshots.keep({ ...old.spot, via: [], made: [] }, old.bytes, old.digest) ?? null;
  let [inode, modifiedMs] = [0, 0];

  async function makeReady(): Promise<Result<void>> {
    return catchErrnoAsync(path, async () => {
      const target = scope.folders.findPlace(temp);
      if (!target.ok) return target;
      const { folder, name } = target.value;
      const source = scope.folders.staged(change.from);
      if (staged.type === 'symlink') {
        symlinkSync(source.folder.readLink(source.name), folder.at(name));
        copySymlinkOwnership(folder.at(name), old.stat);
      } else {
        const like = { mode, uid: old.stat.uid, gid: old.stat.gid };
        copyFile(source.folder.at(source.name), folder.at(name), { like, times: staged.stat, sync: scope.sync });
      }
      failpoint('workspace.taken-copy');
      const now = folder.stat(name);
      if (now === null || !isSame(source.folder.stat(source.name), staged.stat)) return alteredAt(path);
      [inode, modifiedMs] = [now.ino, now.mtimeMs];
      return ok(undefined);
    });
  }

  function takeOver(): Result<void> {
    return catchErrno(path, () => {
      const found = scope.folders.find(path);
      if (!found.ok) return found;
      const { folder, name, stat } = found.value;
      if (!isSame(stat, old.stat)) return conflictAt(path, 'was changed');
      renameSync(folder.at(beside), folder.at(name));
      failpoint('workspace.taken');
      const written = keptFile(journal?.snapshots.folder, image, old);
      if (written !== null) {
        linkSync(written, folder.at(beside));
        renameSync(folder.at(beside), folder.at(name));
        return conflictAt(path, 'was changed just now');
      }
      scope.sync.folder(folder);
      return ok(undefined);
    });
  }

  return {
    places: [{ path, via: [] }],
    phase: 'changed',
    before: () => (old.bytes === null ? undefined : obeyedDigest(path, old.bytes)),
    applied: {
      kind: 'take',
      path,
      type: staged.type as 'file' | 'symlink',
      created: false,
      undoable: journal?.lasts === true && image !== null,
    },
    get recorded(): RecordedTake {
      const comes = { type: staged.type, mode, inode, modifiedMs, digest: staged.digest };
      const goes = { replaced: image, replacedInode: old.stat.ino, undoable: image !== null };
      return { kind: 'take', path, temp, from: change.from, ...comes, ...goes, made: [] };
    },
    temp,
    makeReady,
    perform: async () => takeOver(),
    dispose(how) {
      if (how === 'failed') scope.folders.discard(temp);
    },
  };
}

/** The old file by its kept name, if another program wrote to it between the last look and the rename. */
function keptFile(
  images: { at(name: string): string; stat(name: string): ReplacedFile['stat'] | null } | undefined,
  image: Snapshot | null,
  { stat }: ReplacedFile,
): string | null {
  if (images === undefined || image?.by !== 'link') return null;
  const kept = images.stat(image.name);
  return kept !== null && kept.ino === stat.ino && !isSame(kept, stat) ? images.at(image.name) : null;
}
