import type { Command } from 'commander';
import { explainCall } from '../../app/explain-call.ts';
import { type Cli, failWith } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { previewLines } from '../preview.ts';
import { readToolLine } from '../tool-line.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(
    command.argument('<tool>', cli.words.options.tool).argument('[arguments...]', cli.words.options.explained),
    cli,
  ).action((name: string, words: string[], options: CommonOptions) =>
    withApp(cli, options, async (app) => {
      const tool = app.executor.offered().find((offered) => offered.name === name);
      const line = words.length === 1 ? (words[0] ?? '') : words.map((word) => JSON.stringify(word)).join(' ');
      const one = words.length === 1 && !line.trim().startsWith('{') ? JSON.stringify(line) : line;
      const explained = await explainCall(app, name, readToolLine(one, tool?.input.json ?? {}));
      if (!explained.ok) return failWith(cli, explained.error);
      const { verdict, rule, reason, mode, parts, shown } = explained.value;
      if (verdict === 'deny') cli.exitCode = EXIT.denied;
      if (options.json) return cli.print(JSON.stringify({ tool: name, verdict, rule, reason, mode, parts, shown }));
      cli.print(`${name}: ${cli.style.bold(cli.words.verdicts[verdict])}. ${reason}`);
      cli.print(cli.style.dim(`${rule} · ${mode}`));
      for (const part of parts)
        cli.print(
          `  ${cli.style.line(`${part.what}: ${cli.words.verdicts[part.verdict]} (${part.rule}) ${part.reason}`, 2)}`,
        );
      if (verdict !== 'ask') return;
      cli.print(cli.words.wouldBeShown);
      for (const line of previewLines(shown.preview, cli.words)) cli.print(`  ${line}`);
    }),
  );
}
