import type { Command } from 'commander';
import { disabledByConfig } from '../../app/admin/change-settings.ts';
import type { App } from '../../app/open-app.ts';
import { unknownTool } from '../arguments/unknown-tool.ts';
import { type Cli, failWith } from '../cli.ts';
import { harmless, toJson } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

const FORMATS = ['openai', 'openai-responses', 'anthropic', 'json-schema'] as const;
type Format = (typeof FORMATS)[number];
type Action = keyof Cli['words']['actions'];

interface ToolsOptions extends CommonOptions {
  readonly format?: string;
}

export function define(command: Command, cli: Cli): void {
  const { actions, options: about } = cli.words;
  const added = (text: string) => command.command(text).description(actions[text.split(' ')[0] as Action]);
  const sub = (text: string, work: (app: App, name: string | undefined, options: ToolsOptions) => unknown) =>
    addAppOptions(text === '' ? command : added(text).copyInheritedSettings(command), cli).action(
      (...given: unknown[]) => {
        const name = typeof given[0] === 'string' ? given[0] : undefined;
        const options = given.find((one) => typeof one === 'object' && one !== null) as ToolsOptions;
        return withApp(cli, options, async (app) => {
          await work(app, name, options);
        });
      },
    );
  sub('', (app, _, { json }) => list(cli, app, json));
  sub('list', (app, _, { json }) => list(cli, app, json));
  sub('show <tool>', (app, name) => show(cli, app, name));
  sub('schema [tool]', (app, name, { format }) => schema(cli, app, name, format)).option(
    '--format <format>',
    about.format(FORMATS.join(', ')),
    'openai',
  );
  sub('enable <tool>', (app, name) => switchTool(cli, app, name, true));
  sub('disable <tool>', (app, name) => switchTool(cli, app, name, false));
}

/** Lists all tools, including disabled ones. */
function list(cli: Cli, { registry, servers }: App, json = false): void {
  const { style } = cli;
  for (const { name, description } of registry.listAll()) {
    const enabled = registry.isEnabled(name);
    if (json) cli.print(toJson({ name, enabled, description }));
    else
      cli.print(
        `${enabled ? style.green('●') : style.dim('○')} ${style.bold(name)} ${style.line(description, name.length + 3)}`,
      );
  }
  for (const { name, state, trouble } of servers) {
    if (state !== 'up') cli.note(harmless(cli.words.notUp(name, trouble)));
  }
}

function show(cli: Cli, { registry }: App, name = '') {
  const tool = registry.describeAll().find((one) => one.tool.name === name)?.tool;
  if (tool === undefined) return failWith(cli, unknownTool(cli, registry, name));
  const { description, category, effect, input } = tool;
  cli.print(`${cli.style.bold(name)} (${category}, ${effect})\n${harmless(description)}`);
  cli.print(toJson(input.json, 2));
}

function schema(cli: Cli, app: App, name: string | undefined, format = 'openai') {
  if (!FORMATS.includes(format as Format)) {
    failWith(cli, { code: 'INVALID_INPUT', message: cli.words.noFormat(format, FORMATS.join(', ')) });
    return;
  }
  const { executor, registry } = app;
  const at = executor.offered().findIndex((one) => one.name === name);
  if (name !== undefined && at === -1) {
    const message = disabledByConfig(app, name)?.message ?? cli.words.isOff(name);
    const off = { code: 'TOOL_DISABLED', message } as const;
    return failWith(cli, registry.exists(name) ? off : unknownTool(cli, registry, name));
  }
  const schemas = executor.getAllSchemas(format as Format);
  cli.print(toJson(name === undefined ? schemas : schemas[at], 2));
}

async function switchTool(cli: Cli, app: App, tool = '', enabled: boolean): Promise<void> {
  const { store, registry } = app;
  if (!registry.exists(tool)) return failWith(cli, unknownTool(cli, registry, tool));
  const off = enabled ? disabledByConfig(app, tool) : undefined;
  if (off !== undefined) return failWith(cli, off);
  await store.record({ type: 'tool.switched', at: Date.now(), data: { tool, enabled, by: 'terminal' } });
  cli.print(cli.words.switched(tool, enabled));
}
