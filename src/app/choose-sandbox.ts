import { join } from 'node:path';
import type { FilePolicy } from '../kernel/file-policy.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import type { Sandbox } from '../kernel/sandbox.ts';
import { createDialer } from '../net/dialer.ts';
import { createBubblewrap } from '../sandbox/bubblewrap.ts';
import { createNone } from '../sandbox/none.ts';
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
  if (wish === 'seatbelt') {
    const next = "Set sandbox to 'auto' on Linux, or to 'none' to run commands unprotected.";
    return fail('SANDBOX_UNAVAILABLE', `The seatbelt sandbox is not part of this version. ${next}`);
  }
  const readOnlyFolders = [await ripgrepFolder()];
  return ok(
    createBubblewrap({
      filePolicy: files,
      dialer: createDialer({ ownPorts }),
      path,
      home,
      stateFolder,
      readOnlyFolders,
    }),
  );
}
