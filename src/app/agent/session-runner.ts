import type { Agent, RunOptions } from '../../agent/create-agent.ts';
import type { SessionRunner } from '../../http/backend.ts';
import type { LiveEvent, StoredEvent } from '../../kernel/call/event.ts';
import { messageOf } from '../../kernel/error.ts';
import { fail, ok, type Result } from '../../kernel/result.ts';
import { hideInModelStream } from '../../secrets/hide-in-stream.ts';
import type { Texts } from '../config/texts.ts';
import { DEMO_TASK, demoModel, isDemoWorkspace } from '../demo.ts';
import type { App } from '../open-app.ts';
import type { RunnerParts } from '../open-host.ts';
import { createChosenModel } from './choose-model.ts';
import { openAgent } from './open-agent.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Runs agents in sessions, each in the workspace of its session. An accepted run continues by itself; events report its
 * progress.
 */
export function createSessionRunner(parts: RunnerParts, env: Texts): SessionRunner {
  const { apps, appOf, tell, ledger, log } = parts;
  const [first] = apps.values();
  if (first === undefined) throw new Error('a host has at least one workspace');
  const { hider } = first;
  const chosen = createChosenModel(first.loaded, env);
  const running = new Map<string, AbortController>();
  const pause = new AbortController();
  const agents = new Map<App, { model: Agent | undefined; demo: Agent }>();

  return {
    models: chosen.view,
    async choose(choice, by) {
      const opened = chosen.open(choice);
      if (!opened.ok) return opened;
      const { provider, baseUrl } = choice;
      const endpoint = baseUrl === undefined ? {} : { endpoint: withoutCredentials(baseUrl) };
      const data = { provider, model: opened.value.model, ...endpoint, by };
      await ledger.record({ type: 'model.switched', at: Date.now(), data });
      opened.value.use();
      agents.clear();
      return ok(undefined);
    },
    async saveKey(change) {
      // Learned before anything can use the key.
      if (change.key !== null) for (const { hider } of apps.values()) hider.learn(change.key);
      const done = await chosen.saveKey(change);
      if (done.ok) agents.clear();
      return done;
    },
    async send(session, text, by) {
      const model = chosen.current();
      if (!model.ok) return model;
      return start(session, 'model', (agent, options) => agent.run(session, text, { ...options, by }));
    },
    mayPlayDemo(workspace) {
      const app = apps.get(workspace);
      if (app === undefined || isDemoWorkspace(app.workspace.root)) return ok(undefined);
      const next = 'open examples/demo-workspace, or a copy of it.';
      return fail('NOT_CONFIGURED', `The demo works on the demo workspace: ${next}`);
    },
    async demo(session, by) {
      return start(session, 'demo', (agent, options) => agent.run(session, DEMO_TASK, { ...options, by }));
    },
    async stop(session) {
      const run = running.get(session);
      if (run === undefined) return fail('CONFLICT', 'Nothing runs in this session.');
      run.abort();
      return ok(undefined);
    },
    running: (session) => running.has(session),
    takeUp() {
      void resumeOpenRuns().catch((error) => log.warn({}, `Open runs cannot be taken up now: ${messageOf(error)}`));
    },
    pause: () => pause.abort(),
  };

  /** Resolves when the run has begun or failed to begin. */
  async function start(session: string, which: 'model' | 'demo', work: RunWork): Promise<Result<void>> {
    if (running.has(session))
      return fail('CONFLICT', 'This session has a run under way: wait for its end, or stop it.');
    const stopper = new AbortController();
    running.set(session, stopper);
    const found = await agentFor(session, which).then(ok, (error) => fail('INTERNAL', messageOf(error)));
    if (!found.ok || found.value === undefined) {
      running.delete(session);
      return found.ok ? fail('NOT_CONFIGURED', 'The workspace of this session is not open here.') : found;
    }
    const agent = found.value;
    // Recorded events reach all listeners through the store; live events are sent here.
    const hear = hideInModelStream(hider, tell);
    return new Promise((answer) => {
      const onEvent = (event: StoredEvent | LiveEvent) => {
        hear(event);
        answer(ok(undefined));
      };
      void work(agent, { signal: stopper.signal, pause: pause.signal, onEvent }).then((ran) => {
        running.delete(session);
        if (!ran.ok && !pause.signal.aborted) log.error({ session }, ran.error.message);
        answer(ran.ok ? ok(undefined) : ran);
      });
    });
  }

  async function agentFor(session: string, which: 'model' | 'demo'): Promise<Agent | undefined> {
    const app = await appOf(session);
    if (app === undefined) return undefined;
    let made = agents.get(app);
    if (made === undefined) {
      const model = chosen.current();
      made = { model: model.ok ? openAgent(app, model.value) : undefined, demo: openAgent(app, demoModel()) };
      agents.set(app, made);
    }
    return made[which];
  }

  async function resumeOpenRuns(): Promise<void> {
    for (let after: string | null | undefined; after !== null; ) {
      const page = await ledger.sessions(after === undefined ? {} : { after });
      for (const { id, updatedAt, workspace } of page.items) {
        if (workspace === null || !apps.has(workspace) || updatedAt < Date.now() - DAY_MS || running.has(id)) continue;
        const open = openRun(await ledger.events(id));
        if (open === undefined || (!chosen.current().ok && !open.scripted)) continue;
        void start(id, open.scripted ? 'demo' : 'model', (agent, options) => agent.resume(id, options));
      }
      after = page.next;
    }
  }
}

function withoutCredentials(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

type RunWork = (agent: Agent, options: RunOptions) => Promise<Result<unknown>>;

/** Returns the last run of a session if it did not finish. */
function openRun(events: readonly StoredEvent[]): { scripted: boolean } | undefined {
  const last = events.findLast(({ type }) => type === 'run.started' || type === 'run.finished');
  return last?.type === 'run.started' ? last.data : undefined;
}
