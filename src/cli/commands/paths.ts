import type { Command } from 'commander';
import { decidePath, listDecisions, takeBack } from '../../app/admin/decide-paths.ts';
import type { PathDecisionRecord } from '../../kernel/call/ledger.ts';
import type { PathDecisionKind } from '../../kernel/world/path-decisions.ts';
import { type Cli, failWith } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  const { actions } = cli.words;
  const sub = (text: string, does: string) =>
    addAppOptions(command.command(text).description(does).copyInheritedSettings(command), cli);
  addAppOptions(command, cli).action((options: CommonOptions) => list(cli, options));
  sub('list', actions.list).action((options: CommonOptions) => list(cli, options));
  const deciding = { free: 'commands', 'no-secret': 'no-secret', agree: 'agreed-text' } as const;
  const does = { free: actions.freePath, 'no-secret': actions.noSecret, agree: actions.agreeToText };
  for (const [name, kind] of Object.entries(deciding) as [keyof typeof deciding, PathDecisionKind][]) {
    sub(`${name} <path>`, does[name]).action((path: string, options: CommonOptions) =>
      withApp(cli, options, async (app) => {
        const decided = await decidePath(app, { path, kind }, 'terminal');
        if (!decided.ok) return failWith(cli, decided.error);
        print(cli, decided.value, options);
      }),
    );
  }
  sub('take-back <path-or-id>', actions.takeBack).action((given: string, options: CommonOptions) =>
    withApp(cli, options, async (app) => {
      const taken = await takeBack(app, given, 'terminal');
      if (!taken.ok) return failWith(cli, taken.error);
      for (const decision of taken.value) print(cli, decision, options);
    }),
  );
}

function list(cli: Cli, options: CommonOptions): Promise<void> {
  return withApp(cli, options, async (app) => {
    const decisions = await listDecisions([app]);
    if (decisions.length === 0 && !options.json) cli.print(cli.words.nothing);
    for (const decision of decisions) print(cli, decision, options);
  });
}

function print(cli: Cli, decision: PathDecisionRecord, options: CommonOptions): void {
  if (options.json) {
    cli.print(toJson(decision));
    return;
  }
  const { id, kind, path, digest, by, at } = decision;
  const of = digest === null ? '' : ` · sha256:${digest.slice(0, 8)}`;
  cli.print(`${id} ${kind.padEnd(11)} ${harmless(path)}${of} · ${harmless(by)} · ${new Date(at).toISOString()}`);
}
