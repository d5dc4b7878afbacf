import { createSettings } from '../../app/admin/change-settings.ts';
import type { ChosenModel } from '../../app/agent/choose-model.ts';
import type { App } from '../../app/open-app.ts';
import { workspaceId } from '../../app/workspace-id.ts';
import { MODES, mode } from '../../protocol/health.ts';
import type { Cli } from '../cli.ts';
import { harmless } from '../text/style.ts';

/** The commands of a chat that are no tools, for `/help` and the Tab key. */
export const CHAT_COMMANDS = [
  'help',
  'tools',
  'model',
  'mode',
  'new',
  'sessions',
  'undo',
  'cost',
  'quit',
  'exit',
] as const;

const MAX_SESSIONS = 10;

/** Shows the model of the next messages, or chooses one: `/model NAME`, `/model PROVIDER NAME`, `/model manual`. */
export function chooseModel(cli: Cli, chosen: ChosenModel, words: readonly string[]): void {
  const { current, choices } = chosen.view();
  const [first, second] = words;
  if (first === undefined) {
    cli.print(cli.words.currentModel(harmless(current?.model ?? '')));
    for (const { provider, model, ready } of choices) cli.print(`  ${ready ? '●' : '○'} ${provider} ${model ?? ''}`);
    return;
  }
  const named = choices.find(({ provider }) => provider === first)?.provider;
  const model = named === undefined ? first : second;
  const provider =
    first === 'manual' ? 'manual' : (named ?? current?.provider ?? choices.find((one) => one.ready)?.provider);
  if (provider === undefined) {
    cli.note(cli.words.noProvider);
    return;
  }
  const opened = chosen.open(model === undefined || provider === 'manual' ? { provider } : { provider, model });
  if (!opened.ok) {
    cli.note(harmless(cli.words.said(opened.error.message)));
    return;
  }
  opened.value.use();
  cli.print(cli.words.currentModel(harmless(opened.value.model ?? '')));
}

/** Shows the mode, or switches it until the chat ends. */
export async function chooseMode(cli: Cli, app: App, wanted: string | undefined): Promise<void> {
  const read = mode.safeParse(wanted ?? app.rules.mode());
  if (!read.success) return cli.note(cli.words.noMode(harmless(wanted ?? ''), MODES.join(', ')));
  if (wanted !== undefined) {
    const settings = createSettings(new Map([[workspaceId(app.workspace.root), app]]), app.store);
    const switched = await settings.switchMode(read.data, 'terminal');
    if (!switched.ok) return cli.note(harmless(cli.words.said(switched.error.message)));
  }
  cli.print(cli.words.currentMode(app.rules.mode()));
}

/** The latest sessions of the workspace, newest first, as `chat --session` takes them. */
export async function listSessions(cli: Cli, { store, workspace }: App): Promise<void> {
  const own = workspaceId(workspace.root);
  const all = [];
  for (let after: string | null | undefined; after !== null; ) {
    const page = await store.sessions(after === undefined ? { limit: 500 } : { after, limit: 500 });
    all.push(...page.items.filter((session) => session.workspace === own));
    after = page.next;
  }
  const newest = all.sort((a, b) => b.updatedAt - a.updatedAt).slice(0, MAX_SESSIONS);
  if (newest.length === 0) cli.print(cli.words.nothing);
  for (const { id, title } of newest)
    cli.print(`${cli.style.bold(harmless(id))} ${cli.style.line(title ?? '', id.length + 1)}`);
}

/** The turns and tokens that the session has used. */
export async function showCost(cli: Cli, { store }: App, session: string): Promise<void> {
  let [turns, tokens] = [0, 0];
  for (const event of await store.events(session)) {
    if (event.type !== 'run.finished') continue;
    const { usage } = event.data;
    turns += event.data.turns;
    tokens += usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  }
  cli.print(cli.words.used(turns, tokens, ''));
}
