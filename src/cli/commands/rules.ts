import type { Command } from 'commander';
import { listRules, removeRule, saveRule } from '../../app/rules.ts';
import { type Cli, failWith } from '../cli.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  const sub = (text: string) => addAppOptions(command.command(text).copyInheritedSettings(command), cli);
  addAppOptions(command, cli).action((options: CommonOptions) => list(cli, options));
  sub('list').action((options: CommonOptions) => list(cli, options));
  for (const verdict of ['allow', 'ask', 'deny'] as const) {
    sub(`${verdict} <rule>`).action((rule: string, options: CommonOptions) =>
      withApp(cli, options, async (app) => {
        const saved = await saveRule(app, rule, verdict, 'terminal');
        if (!saved.ok) return failWith(cli, saved.error);
        cli.print(options.json ? JSON.stringify(saved.value) : `${saved.value.id} ${verdict} ${saved.value.rule}`);
      }),
    );
  }
  sub('remove <id>').action((id: string, options: CommonOptions) =>
    withApp(cli, options, async (app) => {
      const removed = await removeRule(app, id, 'terminal');
      if (!removed.ok) failWith(cli, removed.error);
    }),
  );
}

function list(cli: Cli, options: CommonOptions): Promise<void> {
  return withApp(cli, options, async (app) => {
    const rules = await listRules(app);
    if (rules.length === 0 && !options.json) cli.print(cli.words.nothing);
    for (const rule of rules) {
      cli.print(
        options.json
          ? JSON.stringify(rule)
          : `${(rule.id ?? 'config').padEnd(8)} ${rule.verdict.padEnd(5)} ${rule.rule}`,
      );
    }
  });
}
