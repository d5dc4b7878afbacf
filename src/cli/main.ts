#!/usr/bin/env node
import { Command, InvalidArgumentError } from 'commander';
import { VERSION } from '../app/version.ts';
import { ROLES } from '../protocol/health.ts';
import { EXIT } from './exit-codes.ts';

/** Thin: each command loads what it needs when it is asked for, so that help is there at once. */
const program = new Command('toolwright')
  .description('Run tools under policy, approval and sandbox, with a record of every call.')
  .version(VERSION, '-V, --version', 'show the version')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage));

program
  .command('start')
  .description('start the server with its API')
  .option('-w, --workspace <folder>', 'a folder to work in; several may be given', collect, [])
  .option('-p, --port <number>', 'the port; the next free one if it is taken')
  .option('--host <address>', 'the address to listen on')
  .option('--headless', 'nobody can be asked: refuse at once what needs a person')
  .option('--set <name=value>', 'any setting of the configuration', collect, [])
  .option('--json', 'print one JSON object instead of sentences')
  .action(async (options) => {
    const { start } = await import('./commands/start.ts');
    await start(options);
  });

program
  .command('call')
  .description('run one tool: toolwright call read_file --path README.md')
  .argument('<tool>', 'its name')
  .argument('[arguments...]', 'its parameters as --name value, or one JSON object with --args')
  .option('-w, --workspace <folder>', 'the folder to work in', '.')
  .option('--args <json>', 'all parameters as one JSON object')
  .option('--headless', 'nobody can be asked: refuse at once what needs a person')
  .option('--dry-run', 'say what would happen, and do nothing')
  .option('--set <name=value>', 'any setting of the configuration', collect, [])
  .option('--json', 'print one JSON object instead of text')
  .allowUnknownOption()
  .action(async (tool, rest, options) => {
    const { call } = await import('./commands/call.ts');
    await call(tool, rest, options);
  });

program
  .command('token')
  .description('make a token for somebody; it is shown once')
  .argument('<name>', 'whose it is')
  .requiredOption('--role <role>', ROLES.join(', '), oneOfRoles)
  .option('--session <id>', 'limit it to this session; several may be given', collect, [])
  .option('--set <name=value>', 'any setting of the configuration', collect, [])
  .action(async (name, options) => {
    const { token } = await import('./commands/token.ts');
    await token(name, options);
  });

await program.parseAsync();

function collect(value: string, before: string[]): string[] {
  return [...before, value];
}

function oneOfRoles(value: string): string {
  if ((ROLES as readonly string[]).includes(value)) return value;
  throw new InvalidArgumentError(`There are ${ROLES.join(', ')}.`);
}
