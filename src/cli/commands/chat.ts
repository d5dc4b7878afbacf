import type { Command } from 'commander';
import { undoCall } from '../../app/admin/undo-call.ts';
import { undoLatest } from '../../app/admin/undo-latest.ts';
import { type ChosenModel, createChosenModel } from '../../app/agent/choose-model.ts';
import { openAgent } from '../../app/agent/open-agent.ts';
import type { App } from '../../app/open-app.ts';
import { openSession } from '../../app/open-session.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Approver } from '../../kernel/ports.ts';
import { MODES } from '../../protocol/health.ts';
import { alwaysIn } from '../approvals/always-answer.ts';
import { collectFor, tellCollected } from '../approvals/collected-changes.ts';
import { askPendingApprovals } from '../approvals/pending-approvals.ts';
import { Prompter } from '../approvals/prompter.ts';
import { createTerminalApprover } from '../approvals/terminal-approver.ts';
import { readTypedCall } from '../arguments/tool-line.ts';
import { unknownTool } from '../arguments/unknown-tool.ts';
import type { Cli } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { playRun } from '../run/play-run.ts';
import { RunView } from '../run/run-view.ts';
import { isInWorkspace, newSessionId } from '../sessions.ts';
import { harmless } from '../text/style.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';
import { CHAT_COMMANDS, chooseMode, chooseModel, listSessions, showCost } from './chat-commands.ts';

interface ChatOptions extends CommonOptions {
  readonly session?: string;
  readonly collect?: true;
}

export function define(command: Command, cli: Cli): void {
  addAppOptions(command, cli)
    .option('--session <id>', cli.words.options.session)
    .option('--collect', cli.words.options.collect)
    .action(async (options: ChatOptions) => {
      const chat = new Chat(cli, options.session ?? newSessionId('chat'), options);
      try {
        await withApp(cli, options, (app) => chat.talk(app), { approver: chat.approver });
      } finally {
        chat.prompter.close();
      }
    });
}

interface ChatRun {
  readonly app: App;
  readonly model: Model;
  /** Null resumes an interrupted run. */
  readonly task: string | null;
  readonly signal: AbortSignal;
}

interface ChatLine {
  /** Without its slash. */
  readonly line: string;
  readonly chosen: ChosenModel;
  readonly signal: AbortSignal;
}

type Agent = ReturnType<typeof openAgent>;
type Model = Parameters<typeof openAgent>[1];

/** A chat in a terminal: text goes to the model, a line that begins with a slash is a command. */
class Chat {
  readonly prompter: Prompter;
  readonly approver: Approver;
  readonly #cli: Cli;
  readonly #agents = new Map<Model, Agent>();
  readonly #collect: boolean;
  #running: AbortController | undefined;
  #session: string;
  #leaving = false;
  #app: App | undefined;

  constructor(cli: Cli, session: string, { collect }: ChatOptions) {
    this.#cli = cli;
    this.#session = session;
    this.#collect = collect === true;
    this.prompter = new Prompter(cli, {
      onInterrupt: () => this.#interrupt(),
      complete: (line) => this.#words(line),
      onQueued: (line) => cli.note(cli.style.dim(cli.words.queued(cli.style.line(line, 30)))),
    });
    this.approver = createTerminalApprover(cli, () => this.prompter, { always: () => alwaysIn(this.#app) });
    if (!cli.io.stdin.isTTY) cli.io.onInterrupt(() => this.#interrupt());
  }

  async talk(app: App): Promise<void> {
    this.#app = app;
    const { words, style, io } = this.#cli;
    if (!(await isInWorkspace(this.#cli, app, { session: this.#session, option: '--session' }))) return;
    const chosen = createChosenModel(app.loaded, io.env);
    const model = chosen.current();
    this.#cli.print(style.dim(words.session(this.#session)));
    this.#cli.print(
      model.ok ? words.withModel(model.value.name) : `${harmless(words.said(model.error.message))}\n${words.manual}`,
    );
    await openSession(app, this.#session, words.chatTitle);
    if (this.#collect && !(await collectFor(this.#cli, app, this.#session))) return;
    if (model.ok && (await this.#isOpen(app))) {
      this.#cli.print(words.resuming(this.#session));
      await this.#stoppable((signal) => this.#run({ app, model: model.value, task: null, signal }));
    } else await this.#stoppable((signal) => this.#takeUpCalls(app, signal));
    for (;;) {
      const line = (await this.prompter.listen(style.bold(words.prompt)))?.trim();
      this.#leaving = false;
      if (line === undefined || line === '/quit' || line === '/exit') break;
      if (line === '') continue;
      await this.#stoppable(async (signal) => {
        const current = chosen.current();
        if (line.startsWith('/')) await this.#do(app, { line: line.slice(1), chosen, signal });
        else if (!current.ok) this.#cli.print(words.manual);
        else await this.#run({ app, model: current.value, task: line, signal });
      });
    }
    await tellCollected(this.#cli, app, this.#session);
    this.#cli.exitCode = EXIT.ok;
  }

  async #run({ app, model, task, signal }: ChatRun): Promise<void> {
    const known = this.#agents.get(model) ?? openAgent(app, model);
    this.#agents.set(model, known);
    const play = { app, agent: known, session: this.#session, json: false, approver: this.approver };
    await playRun(this.#cli, { ...play, task, signal });
  }

  async #do(app: App, { line, chosen, signal }: ChatLine): Promise<void> {
    const { words, style, print } = this.#cli;
    const [name = '', ...rest] = line.split(/\s+/);
    const text = line.slice(name.length);
    if (name === 'help') return print(words.help);
    if (name === 'tools') {
      for (const tool of app.executor.offered())
        print(`${style.bold(tool.name)} ${style.line(tool.description, tool.name.length + 1)}`);
      return;
    }
    if (name === 'undo') return this.#undo(app, rest[0]);
    if (name === 'model') return chooseModel(this.#cli, chosen, rest);
    if (name === 'mode') return chooseMode(this.#cli, app, rest[0]);
    if (name === 'sessions') return listSessions(this.#cli, app);
    if (name === 'cost') return showCost(this.#cli, app, this.#session);
    if (name === 'new') return this.#begin(app);
    const tool = app.executor.offered().find((offered) => offered.name === name);
    if (tool === undefined) return print(unknownTool(this.#cli, app.registry, name, '/tools').message);
    // The person asked for this output: all of it is shown.
    const view = new RunView(this.#cli, { mostLines: Infinity });
    const stop = app.executor.on((event) => (event.session === this.#session ? view.show(event) : undefined));
    const context = new ExecutionContext({ ...app.context, sessionId: this.#session });
    await app.executor.execute(tool.name, context, readTypedCall(text, tool), { signal });
    stop();
    view.close();
  }

  /** Goes on in a new session, which knows nothing of the one before. */
  async #begin(app: App): Promise<void> {
    const { words, style, print } = this.#cli;
    await tellCollected(this.#cli, app, this.#session);
    this.#session = newSessionId('chat');
    await openSession(app, this.#session, words.chatTitle);
    print(style.dim(words.session(this.#session)));
    if (this.#collect) await collectFor(this.#cli, app, this.#session);
  }

  /** Commands, tools and modes that may stand at the end of the line. */
  #words(line: string): readonly string[] {
    if (/^\/mode \S*$/.test(line)) return MODES;
    if (!/^\/\S*$/.test(line)) return [];
    const tools = this.#app?.executor.offered().map(({ name }) => name) ?? [];
    return [...CHAT_COMMANDS, ...tools].map((name) => `/${name}`);
  }

  /** Resumes manual calls that an earlier process left waiting or answered. */
  async #takeUpCalls(app: App, signal: AbortSignal): Promise<void> {
    const session = this.#session;
    await askPendingApprovals(this.#cli, this.approver, { app, session, signal });
    const view = new RunView(this.#cli);
    const stop = app.executor.on((event) => (event.session === session ? view.show(event) : undefined));
    const context = new ExecutionContext({ ...app.context, sessionId: session });
    await app.executor.resume((call) => (call.session === session ? context : undefined), { signal });
    stop();
    view.close();
  }

  async #undo(app: App, callId: string | undefined): Promise<void> {
    const { words, print, note } = this.#cli;
    const undoing =
      callId === undefined ? undoLatest(app, 'terminal', this.#session) : undoCall(app, callId, 'terminal');
    const undone = await undoing;
    if (undone.ok) print(words.undone(harmless(undone.value.restored.join(', '))));
    else note(harmless(words.said(undone.error.message)));
  }

  async #isOpen({ store }: App): Promise<boolean> {
    const runs = (await store.events(this.#session)).filter(
      ({ type }) => type === 'run.started' || type === 'run.finished',
    );
    return runs.at(-1)?.type === 'run.started';
  }

  async #stoppable(work: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    this.#running = new AbortController();
    try {
      await work(this.#running.signal);
    } finally {
      this.#running = undefined;
    }
  }

  /** Stops the run; without a run, the second Ctrl-C in a row leaves. */
  #interrupt(): void {
    const { words, note } = this.#cli;
    if (this.#running !== undefined && !this.#running.signal.aborted) {
      note(`\n${words.stopping}`);
      const dropped = this.prompter.dropQueued();
      if (dropped > 0) note(words.dropped(dropped));
      this.#running.abort();
    } else if (this.#leaving) this.prompter.close();
    else {
      this.#leaving = true;
      note(`\n${words.pressAgain}`);
    }
  }
}
