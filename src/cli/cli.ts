import type { Command } from 'commander';
import type { Failure } from '../kernel/error.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import type { Io } from './io.ts';
import type { LiveArea } from './run/live-area.ts';
import { harmless, type Style } from './text/style.ts';
import type { Words } from './text/words.ts';

/** Shared by all commands: input and output, language, and the exit code of the process. */
export interface Cli {
  readonly io: Io;
  readonly argv: readonly string[];
  readonly words: Words;
  readonly style: Style;
  /** `print` and `note` write above it. */
  readonly live: LiveArea;
  exitCode: number;
  /** Prints a line of the result. */
  print(line: string): void;
  /** Prints a line that is not part of the result. */
  note(line: string): void;
}

/** Contract of a file in commands/: it adds arguments, options and an action. Loaded only when it is called. */
export interface CommandModule {
  define(command: Command, cli: Cli): void | Promise<void>;
}

/** Prints one sentence on stderr and sets the matching exit code. */
export function failWith(cli: Cli, failure: Failure): void {
  cli.note(`${cli.style.red('✗')} ${harmless(cli.words.said(failure.message))}`);
  cli.exitCode = exitCodeOf(failure);
}

/** Same for an app that could not be opened: the configuration or the machine has to change first. */
export function failToOpen(cli: Cli, failure: Failure): void {
  failWith(cli, failure);
  cli.exitCode = EXIT.configuration;
}
