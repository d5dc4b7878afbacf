import { type ParseArgsConfig, parseArgs } from 'node:util';
import { messageOf } from '../src/kernel/error.ts';

/** Reads the options behind the name of a script. An unknown option ends the script with one line that names the known ones. */
export function readOptions<const Config extends ParseArgsConfig>(
  config: Config,
): ReturnType<typeof parseArgs<Config>> {
  try {
    return parseArgs(config);
  } catch (error) {
    const known = Object.keys(config.options ?? {}).map((name) => `--${name}`);
    // Further sentences are about positional arguments that begin with a dash: there are none here.
    const [what] = messageOf(error).split('. ');
    console.error(`✗ ${what}. Known: ${known.join(', ')}.`);
    process.exit(2);
  }
}
