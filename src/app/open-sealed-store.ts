import { join } from 'node:path';
import { ok, type Result } from '../kernel/result.ts';
import { createHider, secretValues } from '../runtime/hide-secrets.ts';
import { sealStore } from '../runtime/sealed-store.ts';
import { openStore } from '../storage/open.ts';
import type { OpenStore } from '../storage/open-store.ts';
import type { LoadedConfig } from './config/load-config.ts';
import type { Texts } from './config/texts.ts';
import { FileVault } from './file-vault.ts';
import { makeStateFolder } from './state-folder.ts';

/** The store of the configuration, whose records hide secrets, also those of the environment and the user's keys. */
export async function openSealedStore(
  { storePlace, stateDir, modelKeys }: Pick<LoadedConfig, 'storePlace' | 'stateDir' | 'modelKeys'>,
  env: Texts,
): Promise<Result<OpenStore>> {
  const folder = makeStateFolder(stateDir);
  if (!folder.ok) return folder;
  const opened = await openStore(storePlace);
  if (!opened.ok) return opened;
  const { store, blobs } = opened.value;
  const hider = createHider(secretsOf({ modelKeys }, env));
  return ok({ store: sealStore(store, hider, new FileVault(join(stateDir, 'sealed'))), blobs });
}

/** Values that stand in no record, log or live event. */
export function secretsOf({ modelKeys }: Pick<LoadedConfig, 'modelKeys'>, env: Texts): string[] {
  return [...secretValues(env), ...Object.values(modelKeys)];
}
