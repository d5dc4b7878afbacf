import type { Command } from 'commander';
import type { Failure } from '../kernel/error.ts';
import { EXIT, exitCodeOf } from './exit-codes.ts';
import type { Io } from './io.ts';
import { harmless, type Style } from './text/style.ts';
import type { Words } from './text/words.ts';

/** What every command has: where to read and write, in which language, and what the process will end with. */
export interface Cli {
  readonly io: Io;
  readonly argv: readonly string[];
  readonly words: Words;
  readonly style: Style;
  exitCode: number;
  /** A line for the person or program that asked. */
  print(line: string): void;
  /** A line that is not part of the answer. */
  note(line: string): void;
}

/** A file in commands/ exports one of these: it adds arguments, options and an action. Loaded only when it is called. */
export interface CommandModule {
  define(command: Command, cli: Cli): void | Promise<void>;
}

/** One sentence on the error stream, and the exit code that belongs to it. */
export function failWith(cli: Cli, failure: Failure): void {
  cli.note(`${cli.style.red('✗')} ${harmless(cli.words.said(failure.message))}`);
  cli.exitCode = exitCodeOf(failure);
}

/** The same where nothing could be opened: whatever it was, the configuration or the machine has to change first. */
export function failToOpen(cli: Cli, failure: Failure): void {
  failWith(cli, failure);
  cli.exitCode = EXIT.configuration;
}
