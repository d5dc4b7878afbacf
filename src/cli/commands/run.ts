import type { Command } from 'commander';
import { openAgent } from '../../app/agent/open-agent.ts';
import { openModel } from '../../app/agent/open-model.ts';
import type { App } from '../../app/open-app.ts';
import { openSession } from '../../app/open-session.ts';
import type { FinalState } from '../../kernel/call/call.ts';
import { alwaysIn } from '../approvals/always-answer.ts';
import { collectFor, tellCollected } from '../approvals/collected-changes.ts';
import { Prompter } from '../approvals/prompter.ts';
import { createTerminalApprover } from '../approvals/terminal-approver.ts';
import { createUnattended } from '../approvals/unattended.ts';
import { readTask } from '../arguments/read-task.ts';
import { type Cli, failWith } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { playRun } from '../run/play-run.ts';
import { isInWorkspace, newSessionId } from '../sessions.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

interface RunOptions extends CommonOptions {
  readonly session?: string;
  readonly resume?: string;
  readonly collect?: true;
}

export function define(command: Command, cli: Cli): void {
  addAppOptions(command.argument('[task...]'), cli)
    .option('--session <id>', cli.words.options.session)
    .option('--resume <id>', cli.words.options.resume)
    .option('--collect', cli.words.options.collect)
    .action(async (words: string[], options: RunOptions) => {
      const isResumed = options.resume !== undefined && words.length === 0;
      await runTask(cli, isResumed ? '' : await readTask(cli.io, words), options);
    });
}

async function runTask(cli: Cli, task: string, options: RunOptions): Promise<void> {
  const { io, words } = cli;
  if (task === '' && options.resume === undefined) {
    cli.note(words.sayWhat);
    cli.exitCode = EXIT.usage;
    return;
  }
  const stopper = new AbortController();
  const stop = () => {
    if (!stopper.signal.aborted) cli.note(words.stopping);
    stopper.abort();
  };
  const unlisten = io.onInterrupt(stop);
  let prompter: Prompter | undefined;
  let opened: App | undefined;
  const approver =
    io.stdin.isTTY && !options.json
      ? createTerminalApprover(cli, () => (prompter ??= new Prompter(cli, { onInterrupt: stop })), {
          always: () => alwaysIn(opened),
        })
      : createUnattended(words, () => opened);
  try {
    await withApp(cli, options, work, { approver });
  } finally {
    unlisten();
    prompter?.close();
  }

  async function work(app: App): Promise<void> {
    opened = app;
    const model = openModel(app.loaded.config, io.env, app.loaded.modelKeys);
    if (!model.ok) {
      failWith(cli, model.error);
      cli.exitCode = EXIT.provider;
      return;
    }
    const session = options.resume ?? options.session ?? newSessionId('run');
    const option = options.resume === undefined ? '--session' : '--resume';
    if (!(await isInWorkspace(cli, app, { session, option }))) return;
    const resumed = options.resume !== undefined && task === '';
    if (resumed && (await app.store.session(session)) === null) return wrongUse(words.noSession(session));
    if (!options.json) cli.note(cli.style.dim(words.session(session)));
    if (!resumed) await openSession(app, session, task);
    if (options.collect && !(await collectFor(cli, app, session))) return;
    const play = { app, agent: openAgent(app, model.value), session, signal: stopper.signal, json: !!options.json };
    const ended: FinalState[] = [];
    app.executor.on((event) => event.type === 'call.finished' && ended.push(event.data.state), ['call.finished']);
    const played = await playRun(cli, { ...play, approver, task: resumed ? null : task });
    if (!played) return wrongUse(words.nothingToResume(session));
    if (cli.exitCode === EXIT.ok && ended.length > 0 && ended.every((state) => state === 'denied')) {
      cli.note(`${cli.style.red('✗')} ${words.allDenied(ended.length)}`);
      cli.exitCode = EXIT.denied;
    }
    await tellCollected(cli, app, session);
  }

  function wrongUse(message: string): void {
    failWith(cli, { code: 'INVALID_INPUT', message });
  }
}
