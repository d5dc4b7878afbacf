import type { Command } from 'commander';
import { explainCall } from '../../app/explain-call.ts';
import type { JsonSchema } from '../../kernel/input-schema.ts';
import { ok, type Result } from '../../kernel/result.ts';
import { type Cli, failWith } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { previewLines } from '../preview.ts';
import { toolArguments } from '../tool-arguments.ts';
import { readToolLine } from '../tool-line.ts';
import { unknownTool } from '../unknown-tool.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(
    command.argument('<tool>', cli.words.options.tool).argument('[arguments...]', cli.words.options.explained),
    cli,
  )
    .allowUnknownOption()
    .action((name: string, words: string[], options: CommonOptions) =>
      withApp(cli, options, async (app) => {
        const tool = app.executor.offered().find((offered) => offered.name === name);
        if (tool === undefined && !app.registry.exists(name))
          return failWith(cli, unknownTool(cli, app.registry, name));
        const args = argumentsOf(words, tool?.input.json ?? {});
        if (!args.ok) return failWith(cli, args.error);
        const explained = await explainCall(app, name, args.value);
        if (!explained.ok) return failWith(cli, explained.error);
        const { verdict, rule, reason, mode, parts, shown } = explained.value;
        if (verdict === 'deny') cli.exitCode = EXIT.denied;
        if (options.json) return cli.print(JSON.stringify({ tool: name, verdict, rule, reason, mode, parts, shown }));
        cli.print(`${name}: ${cli.style.bold(cli.words.verdicts[verdict])}. ${cli.words.said(reason)}`);
        cli.print(cli.style.dim(`${rule} · ${mode}`));
        for (const part of parts)
          cli.print(
            `  ${cli.style.line(`${part.what}: ${cli.words.verdicts[part.verdict]} (${part.rule}) ${cli.words.said(part.reason)}`, 2)}`,
          );
        if (verdict !== 'ask') return;
        cli.print(cli.words.wouldBeShown);
        for (const line of previewLines(shown.preview, cli.words)) cli.print(`  ${line}`);
      }),
    );
}

/** As `call` takes them, or as a person types them behind a tool's name: values, name=value, one JSON object. */
function argumentsOf(words: readonly string[], schema: JsonSchema): Result<Record<string, unknown>> {
  if (words[0]?.startsWith('--')) return toolArguments(words, schema);
  const [only = ''] = words;
  if (words.length === 1 && only.trim().startsWith('{')) return ok(readToolLine(only, schema));
  return ok(readToolLine(words.map((word) => JSON.stringify(word)).join(' '), schema));
}
