import { spawnSync } from 'node:child_process';

const known = new Map<string, readonly string[]>();

/** The options that a program of this machine names in its own help. */
export function optionsOf(program: string): readonly string[] {
  const [name = '', subcommand] = program.split(' ');
  const asked = subcommand === undefined ? [name, '--help'] : [name, subcommand, '-h'];
  const key = asked.join(' ');
  const options = known.get(key) ?? namedBy(asked);
  known.set(key, options);
  return options;
}

function namedBy([name = '', ...args]: readonly string[]): readonly string[] {
  const { stdout, stderr } = spawnSync(name, args, { encoding: 'utf8', input: '', timeout: 5_000 });
  return [...new Set(`${stdout} ${stderr}`.match(/(?<![\w-])--?[a-zA-Z0-9][\w-]*/g))];
}
