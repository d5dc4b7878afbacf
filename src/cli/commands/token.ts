import { type Command, InvalidArgumentError } from 'commander';
import { loadConfig } from '../../app/config/load-config.ts';
import { addToken } from '../../app/tokens.ts';
import { ROLES, type Role } from '../../protocol/health.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { collect, settingsFrom } from '../flags.ts';

interface TokenOptions {
  role: Role;
  session: string[];
  set: string[];
}

export function define(command: Command): void {
  command
    .argument('<name>', 'whose it is')
    .requiredOption('--role <role>', ROLES.join(', '), oneOfRoles)
    .option('--session <id>', 'limit it to this session; several may be given', collect, [])
    .option('--set <name=value>', 'any setting of the configuration', collect, [])
    .action(token);
}

function oneOfRoles(value: string): string {
  if ((ROLES as readonly string[]).includes(value)) return value;
  throw new InvalidArgumentError(`There are ${ROLES.join(', ')}.`);
}

async function token(name: string, { role, session, set }: TokenOptions): Promise<void> {
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
