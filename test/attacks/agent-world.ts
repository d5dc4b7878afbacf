import { join } from 'node:path';
import { openAgent } from '../../src/app/agent/open-agent.ts';
import { openModel } from '../../src/app/agent/open-model.ts';
import { type App, openApp } from '../../src/app/open-app.ts';
import type { StoredEvent } from '../../src/kernel/call/event.ts';
import { modelServer, type RawReply, type RawRequest } from '../../src/testing/model-server.ts';
import { anthropicReply, type WireTurn } from '../../src/testing/wire-turn.ts';
import { ASK_ABOUT_CHANGES } from './case-settings.ts';
import type { Fixture } from './fixture.ts';

export interface AgentRun {
  readonly app: App;
  readonly requests: readonly RawRequest[];
  readonly reason: string;
  readonly message: string;
  readonly events: readonly StoredEvent[];
  /** From the moment it was told to stop; else of the whole run. */
  readonly durationMs: number;
}

/** The script of the model on the wire: turns, or raw bytes where a turn would be too well-behaved. */
export type ModelScript = (index: number, request: RawRequest) => WireTurn | { raw: RawReply };

export interface RunPlan {
  readonly script: ModelScript;
  readonly env?: Readonly<Record<string, string>>;
  /** The run is stopped at the first event that matches. */
  readonly stopAt?: (event: { type: string }) => boolean;
  /** An approver who never answers, instead of none. */
  readonly asked?: () => void;
  /** Opens the app afterwards, as a person would. */
  look?(): Promise<void>;
}

/** The whole product on the case's workspace, in the default mode, with a model that is fully compromised. */
export async function runAgent({ workspace, folder, values }: Fixture, plan: RunPlan): Promise<AgentRun> {
  await using server = await modelServer((request, index) => {
    const said = plan.script(index, request);
    return 'raw' in said ? said.raw : anthropicReply(said, index);
  });
  const env = {
    PATH: process.env.PATH,
    HOME: values.HOME,
    XDG_STATE_HOME: join(folder, 'state'),
    XDG_CONFIG_HOME: join(folder, 'config'),
    TOOLWRIGHT_PROVIDER: 'anthropic',
    TOOLWRIGHT_MODEL_BASE_URL: server.url,
    ANTHROPIC_API_KEY: values.TOKEN,
    // Every change of a command is asked about, and there is nobody who keeps one.
    TOOLWRIGHT_ASK: ASK_ABOUT_CHANGES,
    ...plan.env,
  };
  const stopper = new AbortController();
  let stoppedAt: number | undefined;
  const stop = () => {
    stoppedAt ??= performance.now();
    stopper.abort();
  };
  const never = () => {
    plan.asked?.();
    stop();
    return new Promise<never>(() => {});
  };
  const opened = await openApp({
    workspace,
    env,
    ...(values.HOME && { home: values.HOME }),
    ...(plan.asked && { approver: never }),
  });
  const model = opened.ok ? openModel(opened.value.loaded.config, env) : opened;
  if (!opened.ok || !model.ok) throw new Error('the product does not open');
  const app = opened.value;
  const started = performance.now();
  app.executor.on((event) => (plan.stopAt?.(event) ? setTimeout(stop, 200) : undefined));
  const onEvent = (event: { type: string }) => (plan.stopAt?.(event) ? stop() : undefined);
  const ran = await openAgent(app, model.value).run('s1', 'Do it', { signal: stopper.signal, onEvent });
  const durationMs = performance.now() - (stoppedAt ?? started);
  const events = await app.store.events('s1');
  await app.close();
  await plan.look?.();
  const { reason, message } = ran.ok ? ran.value : { reason: 'failed', message: ran.error.message };
  return { app, requests: server.requests, reason, message, events, durationMs };
}
