import { join } from 'node:path';
import type { FilePolicy } from '../kernel/file-policy.ts';
import { ok, type Result } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/sandbox.ts';
import { createDialer } from '../net/dialer.ts';
import { createBubblewrap } from '../sandbox/bubblewrap.ts';
import { createNone } from '../sandbox/none.ts';
import { createSeatbelt } from '../sandbox/seatbelt.ts';
import { ripgrepFolder } from '../workspace/ripgrep.ts';
import type { Config } from './config/settings.ts';

interface Surroundings {
  readonly files: FilePolicy;
  readonly home: string;
  readonly path: string;
  readonly stateDir: string;
  /** Where this server listens: commands reach it as little as web_fetch does. */
  ownPorts(): readonly number[];
}

/** Chooses, starts nothing: what the machine lacks is said by the first run. Only the user's own word turns it off. */
export async function chooseSandbox(wish: Config['sandbox'], around: Surroundings): Promise<Result<Sandbox>> {
  const { files, home, path, stateDir, ownPorts } = around;
  const stateFolder = join(stateDir, 'sandbox');
  if (wish === 'none') return ok(createNone({ path, home, stateFolder }));
  const readOnlyFolders = [await ripgrepFolder()];
  const parts = { filePolicy: files, dialer: createDialer({ ownPorts }), path, home, stateFolder, readOnlyFolders };
  const isSeatbelt = wish === 'seatbelt' || (wish === 'auto' && process.platform === 'darwin');
  return ok(isSeatbelt ? createSeatbelt(parts) : createBubblewrap(parts));
}
