import type { openAgent } from '../../app/agent/open-agent.ts';
import type { App } from '../../app/open-app.ts';
import type { Event } from '../../kernel/call/event.ts';
import type { RunEnd } from '../../kernel/call/message.ts';
import type { Approver } from '../../kernel/ports.ts';
import { askPendingApprovals, type PendingSession } from '../approvals/pending-approvals.ts';
import { type Cli, failWith } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { toJson } from '../text/style.ts';
import { RunView } from './run-view.ts';

export interface PlayedRun {
  readonly app: App;
  readonly agent: ReturnType<typeof openAgent>;
  readonly session: string;
  /** Null resumes an interrupted run. */
  readonly task: string | null;
  readonly signal: AbortSignal;
  /** Prints events as JSON lines, including streamed text, instead of a view for people. */
  readonly json: boolean;
  /** Gets the unanswered questions of a resumed run. Left out where nothing is resumed. */
  readonly approver?: Approver;
}

const EXIT_OF_END: Record<RunEnd, number> = {
  done: EXIT.ok,
  stopped: EXIT.interrupted,
  budget: EXIT.failed,
  loop: EXIT.failed,
  refused: EXIT.failed,
  failed: EXIT.provider,
};

/** Runs one task and shows its progress. Returns false when there was nothing to resume. */
export async function playRun(cli: Cli, run: PlayedRun): Promise<boolean> {
  const { app, agent, session, task, signal, json } = run;
  const view = new RunView(cli);
  const onEvent = (event: Event) => {
    if (event.session !== session) return;
    if (!json) view.show(event);
    else cli.print(toJson(event));
  };
  const stop = app.executor.on(onEvent);
  try {
    const ran = task === null ? await takenUp() : await agent.run(session, task, { signal, onEvent });
    if (!ran.ok) failWith(cli, ran.error);
    else if (ran.value !== null) cli.exitCode = EXIT_OF_END[ran.value.reason];
    return !ran.ok || ran.value !== null;
  } finally {
    stop();
    view.close();
  }

  async function askUnanswered(left: PendingSession): Promise<void> {
    if (run.approver !== undefined) await askPendingApprovals(cli, run.approver, left);
  }

  /**
   * Resumes and asks at the same time, because the run waits for the answers. The end of the run ends the questions,
   * and a failure to ask stops the run.
   */
  async function takenUp(): ReturnType<typeof agent.resume> {
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    const left = { app, session, signal: both };
    const asking = askUnanswered(left).catch((error) => {
      over.abort();
      throw error;
    });
    const resumed = agent.resume(session, { signal: both, onEvent }).finally(() => over.abort());
    await Promise.allSettled([asking, resumed]);
    await asking;
    return resumed;
  }
}
