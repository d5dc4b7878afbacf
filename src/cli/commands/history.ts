import type { Command } from 'commander';
import type { App } from '../../app/open-app.ts';
import { exitCodeIn, wentWell } from '../../protocol/command-value.ts';
import { wholeNumberOption } from '../arguments/flags.ts';
import type { Cli } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

interface HistoryOptions extends CommonOptions {
  readonly session?: string;
  readonly tool?: string;
  readonly limit: number;
  readonly sessions?: string;
}

export function define(command: Command, cli: Cli): void {
  addAppOptions(command, cli)
    .option('--session <id>', cli.words.options.onlySession)
    .option('--tool <name>', cli.words.options.onlyTool)
    .option('--sessions', cli.words.options.sessions)
    .option('--limit <count>', cli.words.options.limit, wholeNumberOption(cli.words), 20)
    .action((options: HistoryOptions) =>
      withApp(cli, options, (app) => (options.sessions ? sessions(cli, app, options) : calls(cli, app, options))),
    );
}

async function calls(cli: Cli, { store }: App, { session, tool, limit, json }: HistoryOptions): Promise<void> {
  const { style } = cli;
  const where = { ...(session !== undefined && { session }), ...(tool !== undefined && { tool }) };
  const { items } = await store.history({ ...where, newestFirst: true, limit });
  if (items.length === 0 && !json) cli.print(cli.words.nothing);
  for (const call of items) {
    if (json) cli.print(toJson(call));
    else {
      const { state, outcome } = call;
      const mark = state === 'succeeded' && outcome !== null && wentWell(outcome) ? style.green('✓') : style.red('✗');
      const exitCode = exitCodeIn(outcome?.value);
      const how = exitCode === null ? state : `${state}, ${cli.words.exitCode(exitCode)}`;
      const took = call.durationMs === null ? '' : `${Math.round(call.durationMs)} ms`;
      const args = style.line(toJson(call.args), 70);
      cli.print(
        `${mark} ${at(call.requestedAt)} ${harmless(call.id)} ${style.bold(harmless(call.tool))} ${how} ${took} ${style.dim(args)}`,
      );
    }
  }
}

async function sessions(cli: Cli, { store }: App, { limit, json }: HistoryOptions): Promise<void> {
  const all = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.sessions(after === undefined ? { limit: 500 } : { after, limit: 500 });
    all.push(...page.items);
    after = page.next;
  }
  const newest = all.sort((a, b) => b.updatedAt - a.updatedAt).slice(0, limit);
  for (const session of newest) {
    const { id, updatedAt, lastSeq } = session;
    cli.print(json ? toJson(session) : `${at(updatedAt)} ${cli.style.bold(harmless(id))} ${lastSeq}`);
  }
}

function at(time: number): string {
  return new Date(time).toISOString().replace('T', ' ').slice(0, 19);
}
