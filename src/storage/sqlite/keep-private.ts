import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../kernel/call/store-error.ts';
import { messageOf } from '../../kernel/error.ts';

const STICKY = 0o1000;
const OTHERS = 0o077;
const PARTS = ['', 'state.db', 'state.db-wal', 'state.db-shm', 'blobs', 'nodes'];

/**
 * Closes a state directory to other users, because calls hold what people typed and tools read. One that was made
 * elsewhere or restored from a backup may be open: files of this user are closed, files of other users are refused.
 */
export function keepPrivate(directory: string): void {
  const user = process.geteuid?.();
  if (user === undefined) return;
  for (const part of PARTS) closeToOthers(join(directory, part), user);
}

function closeToOthers(path: string, user: number): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || (found.mode & OTHERS) === 0) return;
  const mode = (found.mode & 0o7777).toString(8);
  if (found.uid !== user) throw unsafe(`belongs to another user (${found.uid}) and is open to others (mode ${mode})`);
  if ((found.mode & STICKY) !== 0) throw unsafe(`is a folder shared by all users (mode ${mode})`);
  try {
    chmodSync(path, found.mode & 0o700);
  } catch (error) {
    throw unsafe(`is open to others (mode ${mode}), and that cannot be changed (${messageOf(error)})`);
  }

  function unsafe(why: string): StoreError {
    const next = 'Choose a state directory of your own, or make yourself the owner of this one and close it to others.';
    return new StoreError('unsafe', `${path} ${why}. ${next}`);
  }
}
