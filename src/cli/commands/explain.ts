import type { Command } from 'commander';
import { explainCall } from '../../app/approvals/explain-call.ts';
import type { App } from '../../app/open-app.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import { previewLines } from '../approvals/preview.ts';
import { readCallArguments } from '../arguments/call-arguments.ts';
import { collect } from '../arguments/flags.ts';
import { misplacedSetting, takeSettings } from '../arguments/typed-settings.ts';
import { readTypedWords } from '../arguments/typed-words.ts';
import { unknownTool } from '../arguments/unknown-tool.ts';
import { type Cli, failWith } from '../cli.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import { harmless, toJson } from '../text/style.ts';
import { type CommonOptions, withApp } from '../with-app.ts';

interface ExplainOptions extends CommonOptions {
  readonly input?: string;
  readonly run?: string;
  readonly session?: string;
}

export function define(command: Command, cli: Cli): void {
  const { options: about } = cli.words;
  command
    .argument('[tool]', about.tool)
    .argument('[arguments...]', about.explained)
    .option('-w, --workspace <folder>', about.workspace)
    .option('--input <json>', about.input)
    .option('--run <command>', about.runExplained)
    .option('--session <id>', about.sessionExplained)
    .option('--set <name=value>', about.set, collect)
    .option('--json', about.json)
    .allowUnknownOption()
    .action((name: string | undefined, words: string[], options: ExplainOptions) => {
      if (name === undefined) {
        const { run } = options;
        if (run !== undefined) return withApp(cli, options, (app) => showEffect(cli, app, { ...options, run }));
        return command.error("error: missing required argument 'tool'", { code: 'commander.missingArgument' });
      }
      // After a tool's name it is a parameter of that tool.
      const own = options.run === undefined ? [] : ['--run', options.run];
      const { settings, rest } = takeSettings(name, [...words, ...own]);
      return withApp(cli, { ...options, ...settings }, async (app) => {
        const tool = app.executor.offered().find((offered) => offered.name === name);
        if (tool === undefined && !app.registry.exists(name))
          return failWith(cli, unknownTool(cli, app.registry, name));
        const described = tool ?? app.registry.describeAll().find((each) => each.tool.name === name)?.tool;
        const schema = described?.input.json ?? {};
        const misplaced = misplacedSetting(name, rest, schema);
        if (misplaced !== undefined) return failWith(cli, misplaced);
        const given = { input: options.input, words: rest };
        const args = readCallArguments(cli, given, (typed) => readTypedWords(typed, schema));
        if (!args.ok) return failWith(cli, args.error);
        const explained = await explainCall(app, {
          tool: name,
          args: args.value,
          ...(options.session !== undefined && { session: options.session }),
        });
        if (!explained.ok) return failWith(cli, explained.error);
        const { verdict, rule, reason, mode, parts, shown, flow } = explained.value;
        if (verdict === 'deny') cli.exitCode = EXIT.denied;
        if (options.json) return cli.print(toJson({ tool: name, verdict, rule, reason, mode, parts, shown, flow }));
        cli.print(`${name}: ${cli.style.bold(cli.words.verdicts[verdict])}. ${harmless(cli.words.said(reason))}`);
        cli.print(cli.style.dim(`${harmless(rule)} · ${mode}`));
        for (const part of parts)
          cli.print(
            `  ${cli.style.line(`${part.what}: ${cli.words.verdicts[part.verdict]} (${part.rule}) ${cli.words.said(part.reason)}`, 2)}`,
          );
        for (const origin of ['private', 'untrusted', 'agreed'] as const)
          if (flow[origin].length > 0) cli.print(harmless(cli.words.flow[origin](flow[origin].join(', '))));
        if (verdict !== 'ask') return;
        cli.print(cli.words.wouldBeShown);
        for (const line of previewLines(shown.preview, cli)) cli.print(`  ${line}`);
      });
    });
}

/** Runs a command without keeping its changes, and prints its output and what it would change. */
async function showEffect(cli: Cli, app: App, { run, json }: ExplainOptions & { run: string }): Promise<void> {
  const tool = app.executor.offered().find(({ patterns }) => patterns === 'commands');
  if (tool === undefined) return failWith(cli, { code: 'NOT_CONFIGURED', message: cli.words.nothingRunsCommands });
  const context = new ExecutionContext({ ...app.context, dryRun: true });
  const result = await app.executor.execute(tool.name, context, { command: run });
  const { ok: isRun, callId, text } = result;
  if (!isRun) cli.exitCode = exitCodeOf(result.error);
  if (json) return cli.print(toJson({ ok: isRun, callId, text, ...(!isRun && { error: result.error }) }));
  if (isRun) cli.print(harmless(text));
  else failWith(cli, result.error);
}
