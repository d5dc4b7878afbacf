import type { openAgent } from '../../app/agent/open-agent.ts';
import type { App } from '../../app/open-app.ts';
import type { Event } from '../../kernel/call/event.ts';
import type { RunEnd } from '../../kernel/call/message.ts';
import type { Approver } from '../../kernel/ports.ts';
import { askLeft } from '../ask-left.ts';
import { type Cli, failWith } from '../cli.ts';
import { EXIT } from '../exit-codes.ts';
import { RunView } from './run-view.ts';
import { toJson } from '../text/style.ts';

export interface PlayedRun {
  readonly app: App;
  readonly agent: ReturnType<typeof openAgent>;
  readonly session: string;
  /** Null takes up a run that was cut off. */
  readonly task: string | null;
  readonly signal: AbortSignal;
  /** Events as JSON lines, streamed words among them, instead of a view for people. */
  readonly json: boolean;
  /** Asked again what a run that is taken up left unanswered. Without one it is refused, as all questions are. */
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

const nobody: Approver = { ask: () => ({ approved: false, message: 'nobody can be asked here' }) };

/** Runs one task and shows it while it runs. False when there was nothing to take up. */
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
  }

  /** Both at once: the run waits for the answers. When it is over nobody needs them; when nobody can ask it is stopped. */
  async function takenUp(): ReturnType<typeof agent.resume> {
    const over = new AbortController();
    const both = AbortSignal.any([signal, over.signal]);
    const left = { app, session, signal: both };
    const asking = askLeft(cli, run.approver ?? nobody, left).catch((error) => {
      over.abort();
      throw error;
    });
    const resumed = agent.resume(session, { signal: both, onEvent }).finally(() => over.abort());
    await Promise.allSettled([asking, resumed]);
    await asking;
    return resumed;
  }
}
