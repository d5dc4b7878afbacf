import { type ParseArgsConfig, parseArgs } from 'node:util';
import { messageOf } from '../src/kernel/error.ts';

/** What was typed after the name of a script. What it does not know is told in one line, with what it does know. */
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
