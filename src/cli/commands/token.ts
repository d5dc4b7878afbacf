import { type Command, InvalidArgumentError } from 'commander';
import { addToken, listTokens, revokeToken } from '../../app/admin/tokens.ts';
import { loadConfig } from '../../app/config/load-config.ts';
import { makeStateDir } from '../../app/state-dir.ts';
import { ROLES, type Role } from '../../protocol/health.ts';
import { collect, settingsFrom } from '../arguments/flags.ts';
import { type Cli, failToOpen, failWith } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';

interface TokenOptions {
  role?: Role;
  session?: string[];
  json?: boolean;
  set?: string[];
}

export function define(command: Command, cli: Cli): void {
  const { options: about, actions } = cli.words;
  const sub = (text: string, does: string) =>
    command
      .command(text)
      .description(does)
      .copyInheritedSettings(command)
      .option('--set <name=value>', about.set, collect);
  sub('list', actions.listTokens)
    .option('--json', about.json)
    .action((options: TokenOptions) => list(cli, options));
  sub('revoke <name>', actions.revoke).action((name: string, options: TokenOptions) => revoke(cli, name, options));
  command
    .argument('<name>', about.tokenName)
    .option('--role <role>', about.role(ROLES.join(', ')), (value) => oneOfRoles(cli, value))
    .option('--session <id>', about.tokenSession, collect)
    .option('--set <name=value>', about.set, collect)
    .action((name: string, { role, ...options }: TokenOptions) => {
      if (role !== undefined) return token(cli, name, { ...options, role });
      return command.error("error: required option '--role' not specified", {
        code: 'commander.missingMandatoryOptionValue',
      });
    });
}

function oneOfRoles({ words }: Cli, value: string): string {
  if ((ROLES as readonly string[]).includes(value)) return value;
  throw new InvalidArgumentError(`${words.options.role(ROLES.join(', '))}.`);
}

async function token(cli: Cli, name: string, options: TokenOptions & { role: Role }): Promise<void> {
  const { role, session, set } = options;
  const stateDir = await stateFolder(cli, set);
  if (stateDir === undefined) return;
  const made = await addToken(stateDir, { name, role, sessions: session ?? null });
  if (!made.ok) return failWith(cli, made.error);
  cli.print(made.value);
}

async function list(cli: Cli, { set, json }: TokenOptions): Promise<void> {
  const stateDir = await stateFolder(cli, set);
  if (stateDir === undefined) return;
  const listed = listTokens(stateDir);
  if (!listed.ok) return failWith(cli, listed.error);
  if (listed.value.length === 0 && !json) cli.print(cli.words.nothing);
  for (const user of listed.value) {
    const sessions = user.sessions === null ? '' : ` · ${harmless(user.sessions.join(', '))}`;
    cli.print(json ? toJson(user) : `${cli.style.bold(user.name)} · ${user.role}${sessions}`);
  }
}

async function revoke(cli: Cli, name: string, { set }: TokenOptions): Promise<void> {
  const stateDir = await stateFolder(cli, set);
  if (stateDir === undefined) return;
  const revoked = await revokeToken(stateDir, name);
  if (!revoked.ok) return failWith(cli, revoked.error);
  cli.print(cli.words.revoked(name));
}

async function stateFolder(cli: Cli, set: string[] | undefined): Promise<string | undefined> {
  const loaded = await loadConfig({ env: cli.io.env, flags: settingsFrom(set) });
  const made = loaded.ok ? makeStateDir(loaded.value.stateDir) : loaded;
  if (loaded.ok && made.ok) return loaded.value.stateDir;
  if (!loaded.ok) failToOpen(cli, loaded.error);
  else if (!made.ok) failWith(cli, made.error);
  return undefined;
}
