import { loadConfig } from '../../app/config/load-config.ts';
import { addToken } from '../../app/tokens.ts';
import type { Role } from '../../protocol/health.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { settingsFrom } from '../flags.ts';

interface TokenOptions {
  role: Role;
  session: string[];
  set: string[];
}

export async function token(name: string, { role, session, set }: TokenOptions): Promise<void> {
  const loaded = await loadConfig({ env: process.env, flags: settingsFrom(set) });
  const made = loaded.ok
    ? addToken(loaded.value.stateDir, { name, role, sessions: session.length > 0 ? session : null })
    : loaded;
  if (!made.ok) {
    console.error(made.error.message);
    process.exit(exitCodeOf(made.error));
  }
  console.log(made.value);
  process.exit(EXIT.ok);
}
