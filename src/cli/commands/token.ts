import { type Command, InvalidArgumentError } from 'commander';
import { addToken } from '../../app/admin/tokens.ts';
import { loadConfig } from '../../app/config/load-config.ts';
import { makeStateDir } from '../../app/state-dir.ts';
import { ROLES, type Role } from '../../protocol/health.ts';
import { collect, settingsFrom } from '../arguments/flags.ts';
import { type Cli, failToOpen, failWith } from '../cli.ts';

interface TokenOptions {
  role: Role;
  session?: string[];
  set?: string[];
}

export function define(command: Command, cli: Cli): void {
  const { options: about } = cli.words;
  command
    .argument('<name>', about.tokenName)
    .requiredOption('--role <role>', about.role(ROLES.join(', ')), (value) => oneOfRoles(cli, value))
    .option('--session <id>', about.tokenSession, collect)
    .option('--set <name=value>', about.set, collect)
    .action((name: string, options: TokenOptions) => token(cli, name, options));
}

function oneOfRoles({ words }: Cli, value: string): string {
  if ((ROLES as readonly string[]).includes(value)) return value;
  throw new InvalidArgumentError(`${words.options.role(ROLES.join(', '))}.`);
}

async function token(cli: Cli, name: string, { role, session, set }: TokenOptions): Promise<void> {
  const loaded = await loadConfig({ env: cli.io.env, flags: settingsFrom(set) });
  if (!loaded.ok) return failToOpen(cli, loaded.error);
  const folder = makeStateDir(loaded.value.stateDir);
  const made = folder.ok ? await addToken(loaded.value.stateDir, { name, role, sessions: session ?? null }) : folder;
  if (!made.ok) return failWith(cli, made.error);
  cli.print(made.value);
}
