import type { openAgent } from '../app/open-agent.ts';
import type { App } from '../app/open-app.ts';
import type { Event } from '../kernel/event.ts';
import type { RunEnd } from '../kernel/message.ts';
import { type Cli, failWith } from './cli.ts';
import { EXIT } from './exit-codes.ts';
import { RunView } from './run-view.ts';

export interface PlayedRun {
  readonly app: App;
  readonly agent: ReturnType<typeof openAgent>;
  readonly session: string;
  /** Null takes up a run that was cut off. */
  readonly task: string | null;
  readonly signal: AbortSignal;
  /** Recorded events as JSON lines, instead of a view for people. */
  readonly json: boolean;
}

const EXIT_OF_END: Record<RunEnd, number> = {
  done: EXIT.ok,
  stopped: EXIT.interrupted,
  budget: EXIT.failed,
  loop: EXIT.failed,
  refused: EXIT.failed,
  failed: EXIT.provider,
};

/** Runs one task and shows it while it runs. False when there was nothing to take up. */
export async function playRun(cli: Cli, { app, agent, session, task, signal, json }: PlayedRun): Promise<boolean> {
  const view = new RunView(cli);
  const onEvent = (event: Event) => {
    if (event.session !== session) return;
    if (!json) view.show(event);
    else if ('seq' in event) cli.print(JSON.stringify(event));
  };
  const stop = app.executor.on(onEvent);
  try {
    const ran =
      task === null
        ? await agent.resume(session, { signal, onEvent })
        : await agent.run(session, task, { signal, onEvent });
    if (!ran.ok) failWith(cli, ran.error);
    else if (ran.value !== null) cli.exitCode = EXIT_OF_END[ran.value.reason];
    return !ran.ok || ran.value !== null;
  } finally {
    stop();
  }
}
