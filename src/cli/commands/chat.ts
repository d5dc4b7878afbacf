import type { Command } from 'commander';
import { undoCall } from '../../app/admin/undo-call.ts';
import { undoLatest } from '../../app/admin/undo-latest.ts';
import { openAgent } from '../../app/agent/open-agent.ts';
import { openModel } from '../../app/agent/open-model.ts';
import type { App } from '../../app/open-app.ts';
import { openSession } from '../../app/open-session.ts';
import { ExecutionContext } from '../../kernel/call/execution-context.ts';
import type { Approver } from '../../kernel/ports.ts';
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

/** A chat in a terminal: text goes to the model, a line that begins with a slash is a command. */
class Chat {
  readonly prompter: Prompter;
  readonly approver: Approver;
  readonly #cli: Cli;
  readonly #session: string;
  readonly #collect: boolean;
  #running: AbortController | undefined;
  #leaving = false;
  #app: App | undefined;

  constructor(cli: Cli, session: string, { collect }: ChatOptions) {
    this.#cli = cli;
    this.#session = session;
    this.#collect = collect === true;
    this.prompter = new Prompter(cli, {
      onInterrupt: () => this.#interrupt(),
      onQueued: (line) => cli.note(cli.style.dim(cli.words.queued(cli.style.line(line, 30)))),
    });
    this.approver = createTerminalApprover(cli, () => this.prompter, { always: () => alwaysIn(this.#app) });
    if (!cli.io.stdin.isTTY) cli.io.onInterrupt(() => this.#interrupt());
  }

  async talk(app: App): Promise<void> {
    this.#app = app;
    const { words, style, io } = this.#cli;
    if (!(await isInWorkspace(this.#cli, app, { session: this.#session, option: '--session' }))) return;
    const model = openModel(app.loaded.config, io.env, app.loaded.modelKeys);
    const agent = model.ok ? openAgent(app, model.value) : undefined;
    this.#cli.print(style.dim(words.session(this.#session)));
    this.#cli.print(
      model.ok ? words.withModel(model.value.name) : `${harmless(words.said(model.error.message))}\n${words.manual}`,
    );
    await openSession(app, this.#session, words.chatTitle);
    if (this.#collect && !(await collectFor(this.#cli, app, this.#session))) return;
    const play = { app, session: this.#session, json: false, approver: this.approver };
    if (agent !== undefined && (await this.#isOpen(app))) {
      this.#cli.print(words.resuming(this.#session));
      await this.#stoppable((signal) => playRun(this.#cli, { ...play, agent, task: null, signal }));
    } else await this.#stoppable((signal) => this.#takeUpCalls(app, signal));
    for (;;) {
      const line = (await this.prompter.listen(style.bold(words.prompt)))?.trim();
      this.#leaving = false;
      if (line === undefined || line === '/quit' || line === '/exit') break;
      if (line === '') continue;
      await this.#stoppable(async (signal) => {
        if (line.startsWith('/')) await this.#do(app, line.slice(1), signal);
        else if (agent === undefined) this.#cli.print(words.manual);
        else await playRun(this.#cli, { ...play, agent, task: line, signal });
      });
    }
    await tellCollected(this.#cli, app, this.#session);
    this.#cli.exitCode = EXIT.ok;
  }

  async #do(app: App, line: string, signal: AbortSignal): Promise<void> {
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
