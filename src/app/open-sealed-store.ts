import { join } from 'node:path';
import type { Ledger } from '../kernel/call/ledger.ts';
import { ok, type Result } from '../kernel/result.ts';
import { hideInStore } from '../secrets/hide-in-store.ts';
import { createHider, type SecretHider, secretValues } from '../secrets/hide-secrets.ts';
import { FileVault } from '../secrets/vault.ts';
import { openStore } from '../storage/open.ts';
import type { OpenStore } from '../storage/store-and-blobs.ts';
import type { LoadedConfig } from './config/load-config.ts';
import type { Texts } from './config/texts.ts';
import { makeStateDir } from './state-dir.ts';

/** A store with its hider: all parts that use the store hide the same secrets and learn new ones at once. */
export interface SealedStore extends OpenStore {
  /** Records as stored, with secrets hidden. */
  readonly recorded: Pick<Ledger, 'call' | 'approval' | 'approvals'>;
  readonly hider: SecretHider;
}

/** Opens the configured store. Its records hide secrets, including those of the environment and the user's keys. */
export async function openSealedStore(
  { storePlace, stateDir, modelKeys }: Pick<LoadedConfig, 'storePlace' | 'stateDir' | 'modelKeys'>,
  env: Texts,
): Promise<Result<SealedStore>> {
  const folder = makeStateDir(stateDir);
  if (!folder.ok) return folder;
  const opened = await openStore(storePlace);
  if (!opened.ok) return opened;
  const { store, blobs } = opened.value;
  // Values that no record, log or live event may show.
  const hider = createHider([...secretValues(env), ...Object.values(modelKeys)]);
  const sealed = hideInStore(store, hider, new FileVault(join(stateDir, 'sealed')));
  return ok({ store: sealed, recorded: store, blobs, hider });
}
