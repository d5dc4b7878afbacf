import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { writeNewConfig } from '../../app/config/new-config.ts';
import { type Cli, failWith } from '../cli.ts';

export function define(command: Command, cli: Cli): void {
  command.action(async () => {
    const { XDG_CONFIG_HOME: xdg, HOME: home = homedir() } = cli.io.env;
    const folder = xdg?.startsWith('/') ? xdg : join(home, '.config');
    const path = join(folder, 'toolwright', 'config.json');
    const written = await writeNewConfig(path, schemaPath());
    if (written.ok) cli.print(cli.words.wrote(path));
    else if (written.error.code === 'CONFLICT') cli.print(cli.words.exists(path));
    else failWith(cli, written.error);
  });
}

/** Path of the schema shipped with this program: a build lies one folder below the package, a checkout three. */
function schemaPath(): string {
  const places = ['../docs/config.schema.json', '../../../docs/config.schema.json'];
  const found = places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((path) => existsSync(path));
  return found ?? './node_modules/toolwright/docs/config.schema.json';
}
