import { rmSync } from 'node:fs';
import type { Command } from 'commander';
import { openAgent } from '../../app/agent/open-agent.ts';
import { copyDemoWorkspace, DEMO_TASK, demoModel } from '../../app/demo.ts';
import { sandboxTrouble } from '../../app/diagnose.ts';
import { openSession } from '../../app/open-session.ts';
import { type Cli, failWith } from '../cli.ts';
import { playRun } from '../run/play-run.ts';
import { newSessionId } from '../sessions.ts';
import { addAppOptions, type CommonOptions, withApp } from '../with-app.ts';

export function define(command: Command, cli: Cli): void {
  addAppOptions(command, cli).action((options: CommonOptions) => playDemo(cli, options));
}

/** Runs on a copy, in the sandbox and without questions, so that none of the user's files is touched. */
async function playDemo(cli: Cli, options: CommonOptions): Promise<void> {
  const { words, style } = cli;
  const workspace = options.workspace ?? copyDemoWorkspace();
  if (workspace === undefined) {
    failWith(cli, { code: 'NOT_CONFIGURED', message: words.noDemo });
    return;
  }
  const stopper = new AbortController();
  const unlisten = cli.io.onInterrupt(() => stopper.abort());
  await withApp(cli, { mode: 'auto', ...options, workspace }, async (app) => {
    const trouble = sandboxTrouble(app);
    if (trouble !== undefined && app.sandbox.kind !== 'none') {
      failWith(cli, { code: 'SANDBOX_UNAVAILABLE', message: trouble });
      if (options.workspace === undefined) rmSync(workspace, { recursive: true, force: true });
      return;
    }
    const session = newSessionId('demo');
    if (!options.json) {
      cli.print(style.yellow(words.scripted));
      cli.print(style.dim(`${words.session(session)} · ${workspace}`));
      cli.print(`\n${words.prompt}${DEMO_TASK}`);
    }
    const agent = openAgent(app, demoModel());
    await openSession(app, session, DEMO_TASK);
    await playRun(cli, { app, agent, session, task: DEMO_TASK, signal: stopper.signal, json: !!options.json });
  });
  unlisten();
}
