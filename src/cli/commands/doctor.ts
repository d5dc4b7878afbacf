import type { Command } from 'commander';
import { diagnose, type Finding } from '../../app/diagnose.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { showSpinner } from '../run/spinner.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(command, cli).action((options: CommonOptions) =>
    withApp(cli, options, async (app) => {
      const findings = await showSpinner(cli, cli.words.working.doctor, diagnose(app, cli.io.env));
      if (findings.some(({ state }) => state === 'broken')) cli.exitCode = EXIT.configuration;
      if (options.json) {
        const settings = Object.entries(app.loaded.sources).filter(([, source]) => source !== 'default');
        return cli.print(toJson({ findings, settings: Object.fromEntries(settings) }));
      }
      for (const finding of findings) show(cli, finding);
    }),
  );
}

function show({ print, style, words }: Cli, { what, state, detail, repair }: Finding): void {
  const marks = { fine: style.green('✓'), limited: style.yellow('!'), broken: style.red('✗') };
  print(`${marks[state]} ${style.bold(what)} ${harmless(words.said(detail))}`);
  if (repair !== undefined) print(`  ${words.repair}: ${harmless(words.said(repair))}`);
}
