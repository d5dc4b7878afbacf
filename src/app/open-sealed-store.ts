import { join } from 'node:path';
import type { Ledger } from '../kernel/call/ledger.ts';
import { ok, type Result } from '../kernel/result.ts';
import { createHider, type SecretHider, secretValues } from '../runtime/hide-secrets.ts';
import { sealStore } from '../secrets/hide-in-store.ts';
import { openStore } from '../storage/open.ts';
import type { OpenStore } from '../storage/open-store.ts';
import type { LoadedConfig } from './config/load-config.ts';
import type { Texts } from './config/texts.ts';
import { FileVault } from '../secrets/vault.ts';
import { makeStateFolder } from './state-folder.ts';

/** Whoever works on the store hides what it hides, and all hear of a new secret at once. */
export interface SealedStore extends OpenStore {
  /** What its records say: nothing is put back into them. */
  readonly recorded: Pick<Ledger, 'call' | 'approval' | 'approvals'>;
  readonly hider: SecretHider;
}

/** The store of the configuration, whose records hide secrets, also those of the environment and the user's keys. */
export async function openSealedStore(
  { storePlace, stateDir, modelKeys }: Pick<LoadedConfig, 'storePlace' | 'stateDir' | 'modelKeys'>,
  env: Texts,
): Promise<Result<SealedStore>> {
  const folder = makeStateFolder(stateDir);
  if (!folder.ok) return folder;
  const opened = await openStore(storePlace);
  if (!opened.ok) return opened;
  const { store, blobs } = opened.value;
  // Values that stand in no record, log or live event.
  const hider = createHider([...secretValues(env), ...Object.values(modelKeys)]);
  const sealed = sealStore(store, hider, new FileVault(join(stateDir, 'sealed')));
  return ok({ store: sealed, recorded: store, blobs, hider });
}
