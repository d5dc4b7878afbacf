import type { LogPlace } from '../app/open-log.ts';
import type { Cli } from './cli.ts';
import { harmless } from './text/style.ts';

/** Writes the log to stderr: JSON lines for programs, readable lines for a person at a terminal. */
export function logOutput({ io, style }: Pick<Cli, 'io' | 'style'>, when: LogPlace['when']): LogPlace {
  const { stderr, env } = io;
  if (!stderr.isTTY) return { stream: stderr, when };
  // Clears a spinner that may be in the line.
  const begin = env.NO_COLOR || env.TERM === 'dumb' ? '' : '\r\x1b[2K';
  const stream = {
    write(line: string) {
      const { level, msg } = JSON.parse(line) as { level: number; msg: string };
      // Below the level of errors, further lines are the output of some command.
      const said = harmless(level >= ERROR ? msg : (msg.split('\n')[0] ?? ''));
      const mark = level >= ERROR ? style.red('✗') : level >= WARN ? style.yellow('!') : style.dim('·');
      stderr.write(`${begin}${mark} ${said}\n`);
    },
  };
  return { stream, when };
}

const [ERROR, WARN] = [50, 40];
