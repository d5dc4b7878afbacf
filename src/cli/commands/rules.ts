import type { Command } from 'commander';
import { type ListedRule, listRules, removeRule, saveRule } from '../../app/admin/manage-rules.ts';
import type { App } from '../../app/open-app.ts';
import { type Cli, failWith } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

interface SaveOptions extends CommonOptions {
  readonly everywhere?: boolean;
}

export function define(command: Command, cli: Cli): void {
  const { actions, options: about } = cli.words;
  const sub = (text: string, does: string) =>
    addAppOptions(command.command(text).description(does).copyInheritedSettings(command), cli);
  addAppOptions(command, cli).action((options: CommonOptions) => list(cli, options));
  sub('list', actions.list).action((options: CommonOptions) => list(cli, options));
  sub('allow <rule>', actions.allow)
    .option('--everywhere', about.everywhere)
    .action((rule: string, options: CommonOptions) => save(cli, { rule, verdict: 'allow' }, options));
  sub('ask <rule>', actions.ask).action((rule: string, options: CommonOptions) =>
    save(cli, { rule, verdict: 'ask' }, options),
  );
  sub('deny <rule>', actions.deny).action((rule: string, options: CommonOptions) =>
    save(cli, { rule, verdict: 'deny' }, options),
  );
  sub('remove <id>', actions.remove).action((id: string, options: CommonOptions) =>
    withApp(cli, options, async (app) => {
      const removed = await removeRule(app, await idOf(app, id), 'terminal');
      if (!removed.ok) failWith(cli, removed.error);
    }),
  );
}

/** Finds the id of a saved rule, which may also be named by its text. */
async function idOf(app: App, given: string): Promise<string> {
  const [only, ...others] = (await listRules([app])).filter(({ id, rule }) => id !== null && rule === given);
  return others.length === 0 ? (only?.id ?? given) : given;
}

function save(cli: Cli, rule: Pick<ListedRule, 'rule' | 'verdict'>, options: SaveOptions): Promise<void> {
  return withApp(cli, options, async (app) => {
    const saved = await saveRule(app, { ...rule, ...(options.everywhere && { everywhere: true }) }, 'terminal');
    if (!saved.ok) return failWith(cli, saved.error);
    const { id, verdict, rule: text } = saved.value;
    cli.print(options.json ? toJson(saved.value) : `${id} ${verdict} ${harmless(text)}${workspaceLabel(saved.value)}`);
  });
}

function workspaceLabel({ workspace }: ListedRule): string {
  return workspace === null ? '' : ` · ${workspace}`;
}

function list(cli: Cli, options: CommonOptions): Promise<void> {
  return withApp(cli, options, async (app) => {
    const rules = await listRules([app]);
    if (rules.length === 0 && !options.json) cli.print(cli.words.nothing);
    for (const rule of rules) {
      cli.print(
        options.json
          ? toJson(rule)
          : `${(rule.id ?? 'config').padEnd(12)} ${rule.verdict.padEnd(5)} ${harmless(rule.rule)}${workspaceLabel(rule)}`,
      );
    }
  });
}
