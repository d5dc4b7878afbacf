import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { openHost } from '../../app/open-host.ts';
import { openSession } from '../../app/open-session.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { exitCodeIn } from '../../protocol/command-value.ts';
import { askOwnCall } from '../approvals/ask-own-call.ts';
import { readCallArguments } from '../arguments/call-arguments.ts';
import { collect, settingsFrom } from '../arguments/flags.ts';
import { toolHelp } from '../arguments/tool-arguments.ts';
import { misplacedSetting, takeSettings } from '../arguments/typed-settings.ts';
import { readTypedWords } from '../arguments/typed-words.ts';
import { unknownTool } from '../arguments/unknown-tool.ts';
import { type Cli, failToOpen, failWith } from '../cli.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { logOutput } from '../log-output.ts';
import { isInWorkspace } from '../sessions.ts';
import { harmless, toJson } from '../text/style.ts';

interface CallOptions {
  workspace?: string;
  input?: string;
  headless?: boolean;
  session?: string;
  dryRun?: boolean;
  set?: string[];
  json?: boolean;
}

export async function define(command: Command, cli: Cli): Promise<void> {
  const { options: about } = cli.words;
  command
    .argument('<tool>', about.tool)
    .argument('[arguments...]', about.arguments)
    .option('-w, --workspace <folder>', about.workspace)
    .option('--input <json>', about.input)
    .option('--headless', about.headless)
    .option('--session <id>', about.session)
    .option('--dry-run', about.dryRun)
    .option('--set <name=value>', about.set, collect)
    .option('--json', about.json)
    .allowUnknownOption()
    .action((tool: string, words: readonly string[], options: CallOptions) => call(cli, tool, words, options));
  const isHelp = cli.argv.some((word) => word === '--help' || word === '-h');
  const help = isHelp ? await toolHelp(cli.argv, cli) : undefined;
  if (help !== undefined) command.configureHelp({ formatHelp: () => help });
}

/**
 * Makes one call in a session of its own. The person at this terminal is asked, or anyone in the web app or another
 * terminal.
 */
async function call(cli: Cli, tool: string, words: readonly string[], options: CallOptions): Promise<void> {
  const { io } = cli;
  const { workspace = io.cwd, headless = false, json } = options;
  const { settings, rest } = takeSettings(tool, words);
  const flags = { ...settingsFrom(options.set), ...settings };
  const place = { workspaces: [workspace], env: io.env, flags, logTo: logOutput(cli, 'chosen') };
  const opened = await openHost({ ...place, headless, takeOver: false, onlyTool: tool });
  if (!opened.ok) return failToOpen(cli, opened.error);
  const host = opened.value;
  const stop = new AbortController();
  const unlisten = io.onInterrupt(() => stop.abort());
  const stopAsking: (() => void)[] = [];
  try {
    const [entry] = host.workspaces;
    if (entry === undefined) return;
    const [workspaceId, { registry, executor, context }] = entry;
    const offered = executor.offered().find((each) => each.name === tool);
    const described = offered ?? registry.describeAll().find((each) => each.tool.name === tool)?.tool;
    const schema = described?.input.json ?? {};
    const misplaced = misplacedSetting(tool, rest, schema);
    if (misplaced !== undefined)
      return failWith(cli, described === undefined ? unknownTool(cli, registry, tool) : misplaced);
    const given = { input: options.input, words: rest };
    const args = readCallArguments(cli, given, (typed) => readTypedWords(typed, schema));
    if (!args.ok) return failWith(cli, args.error);

    const session = options.session ?? `cli-${randomUUID()}`;
    const app = host.apps.get(workspaceId);
    if (app === undefined || !(await isInWorkspace(cli, app, { session, option: '--session' }))) return;
    await openSession(app, session, `call ${tool}`);
    if (!headless) stopAsking.push(askOwnCall(cli, host, { session, stop }));
    const own = new ExecutionContext({ ...context, sessionId: session, dryRun: options.dryRun ?? false });
    const result = await executor.execute(tool, own, args.value, { signal: stop.signal });
    const { ok, callId, text } = result;
    cli.exitCode = ok ? (exitCodeIn(result.value) ?? EXIT.ok) : exitCodeOf(result.error);
    if (json) {
      const what = ok ? { value: result.value } : { error: result.error };
      cli.print(toJson({ ok, callId, ...what }));
    } else if (ok) {
      cli.print(io.stdout.isTTY ? harmless(text) : text);
      const exitCode = exitCodeIn(result.value) ?? 0;
      if (exitCode !== 0) cli.note(cli.style.red(`✗ ${cli.words.exitCode(exitCode)}`));
      if (callId !== null && app.workspace.canUndo(callId)) cli.note(cli.words.nextUndo(callId));
    } else if (described === undefined) failWith(cli, unknownTool(cli, registry, tool));
    else {
      const next = result.error.code === 'INVALID_INPUT' ? cli.words.nextHelp(`toolwright call ${tool}`) : '';
      const said = `${cli.words.said(text)}${next && `. ${next}`}`;
      cli.note(io.stderr.isTTY ? harmless(said) : said);
    }
  } finally {
    for (const each of stopAsking) each();
    unlisten();
    await host.close();
  }
}
