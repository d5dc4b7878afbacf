import { Command, CommanderError } from 'commander';
import { messageOf } from '../kernel/error.ts';
import { nearest } from '../kernel/text/nearest.ts';
import type { Cli, CommandModule } from './cli.ts';
import { EXIT } from './exit-codes.ts';
import type { Io } from './io.ts';
import { createLiveArea } from './run/live-area.ts';
import { harmless, styleFor } from './text/style.ts';
import { type Words, wordsFor } from './text/words.ts';

type CommandName = keyof Words['commands'];

/**
 * Every command, in the order of `--help`. Each is loaded only when it is called, because loading is most of the
 * startup time.
 */
const COMMANDS: Partial<Record<CommandName, () => Promise<CommandModule>>> = {
  start: () => import('./commands/start.ts'),
  chat: () => import('./commands/chat.ts'),
  run: () => import('./commands/run.ts'),
  demo: () => import('./commands/demo.ts'),
  call: () => import('./commands/call.ts'),
  tools: () => import('./commands/tools.ts'),
  explain: () => import('./commands/explain.ts'),
  rules: () => import('./commands/rules.ts'),
  paths: () => import('./commands/paths.ts'),
  approvals: () => import('./commands/approvals.ts'),
  changes: () => import('./commands/changes/changes.ts'),
  keep: () => import('./commands/changes/keep.ts'),
  discard: () => import('./commands/changes/discard.ts'),
  collect: () => import('./commands/changes/collect.ts'),
  history: () => import('./commands/history.ts'),
  undo: () => import('./commands/undo.ts'),
  replay: () => import('./commands/replay.ts'),
  verify: () => import('./commands/verify.ts'),
  doctor: () => import('./commands/doctor.ts'),
  completion: () => import('./commands/completion.ts'),
  init: () => import('./commands/init.ts'),
  mcp: () => import('./commands/mcp.ts'),
  token: () => import('./commands/token.ts'),
};

/** Runs one command line and returns the exit code. */
export async function runCli(typed: readonly string[], io: Io, version: string): Promise<number> {
  const { lang, argv } = takeLang(typed);
  const words = wordsFor(io.env, lang);
  const live = createLiveArea(io);
  const cli: Cli = {
    io,
    argv,
    words,
    style: styleFor(io),
    live,
    exitCode: EXIT.ok,
    print: (line) => {
      live.clear();
      io.stdout.write(`${line}\n`);
    },
    note: (line) => {
      live.clear();
      io.stderr.write(`${line}\n`);
    },
  };
  const program = new Command('toolwright')
    .version(version, '-V, --version', words.options.version)
    .option('--lang <language>', words.options.lang)
    .helpOption('-h, --help', words.options.help)
    .helpCommand(false)
    .configureHelp({ styleTitle: (title) => words.helpTitles[title.replace(':', '') as HelpTitle] ?? title })
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      outputError: () => {},
    })
    .enablePositionalOptions()
    .showSuggestionAfterError()
    .exitOverride();
  const wanted = argv.find((word) => !word.startsWith('-'));
  for (const [name, load] of Object.entries(COMMANDS) as [CommandName, () => Promise<CommandModule>][]) {
    const command = program.command(name).description(words.commands[name]).copyInheritedSettings(program);
    if (name === wanted) await (await load()).define(command, cli);
  }
  // Set after the commands inherited the settings: their own help keeps the usual format.
  program.configureHelp({ formatHelp: () => overview(words) });
  try {
    if (argv.length === 0) program.outputHelp();
    else await program.parseAsync(argv, { from: 'user' });
    return cli.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok;
    const wrongUse = error instanceof CommanderError;
    const named = program.commands.find((command) => command.name() === wanted);
    const said = wrongUse ? usageError(cli, error, named) : messageOf(error);
    cli.note(`${cli.style.red('✗')} ${harmless(said)}`);
    return wrongUse ? EXIT.usage : EXIT.failed;
  }
}

type HelpTitle = keyof Words['helpTitles'];

/** Commands that the line of another one names in the overview, so that it fits a screen. */
const ABOUT_CHANGES: readonly CommandName[] = ['keep', 'discard', 'collect'];

/** Overview that fits one screen of 24 lines. */
function overview(words: Words): string {
  const names = (Object.keys(COMMANDS) as CommandName[]).filter((name) => !ABOUT_CHANGES.includes(name));
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) => `  ${name.padEnd(width)}  ${words.commands[name]}`);
  return [words.helpUsage, words.about, ...lines, words.helpEnd, ''].join('\n');
}

/** Describes an invalid command line and the next step, in one line. */
function usageError({ words, argv }: Cli, { code, message }: CommanderError, named: Command | undefined): string {
  const next = words.nextHelp(named === undefined ? 'toolwright' : `toolwright ${named.name()}`);
  const below = named?.commands.map((command) => command.name()) ?? [];
  if (code === 'commander.excessArguments' && named !== undefined && below.length > 0) {
    const given = argv.slice(argv.indexOf(named.name()) + 1).find((word) => !word.startsWith('-')) ?? '';
    const [closest] = nearest(given, below);
    const said = words.usage.unknownCommand(`${named.name()} ${given}`);
    return [said, closest && words.didYouMean(`${named.name()} ${closest}`), next].filter(Boolean).join(' ');
  }
  const kind = code.replace('commander.', '') as keyof Words['usage'];
  const [, what = ''] = /'([^']*)'/.exec(message) ?? [];
  const [, meant] = /\(Did you mean (?:one of )?(.*)\?\)/.exec(message) ?? [];
  // The message of our own check of a value.
  const [, ours] = / is invalid\. (.*)$/s.exec(message) ?? [];
  const said = words.usage[kind]?.(what.split(/[ ,]/)[0] ?? '') ?? message;
  return [said, ours, meant && words.didYouMean(meant), next].filter(Boolean).join(' ');
}

/**
 * Takes `--lang` out before parsing, so that help is in that language too. It is accepted everywhere except after the
 * name
 * of a tool, where it may be a parameter.
 */
function takeLang(typed: readonly string[]): { lang: string | undefined; argv: readonly string[] } {
  const at = typed.findIndex((word) => word === '--lang' || word.startsWith('--lang='));
  const [command = '', tool] = typed.slice(0, Math.max(0, at)).filter((word) => !word.startsWith('-'));
  const length = typed[at] === '--lang' ? 2 : 1;
  const isParameter = TAKE_PARAMETERS.includes(command) && tool !== undefined;
  if (at === -1 || isParameter || at + length > typed.length) return { lang: undefined, argv: typed };
  const lang = length === 2 ? typed[at + 1] : typed[at]?.slice('--lang='.length);
  return { lang, argv: typed.toSpliced(at, length) };
}

const TAKE_PARAMETERS = ['call', 'explain'];
