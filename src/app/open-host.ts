import { basename } from 'node:path';
import { createHeadless } from '../approval/headless.ts';
import { createInbox } from '../approval/inbox.ts';
import type { Backend, SessionRunner, WorkspaceBackend } from '../http/backend.ts';
import { messageOf } from '../kernel/error.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import type { Logger } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { silentLogger } from '../kernel/silent-logger.ts';
import { createMcpApprover, type McpApprover } from '../mcp/server/approver.ts';
import type { LiveStreamEvent } from '../protocol/events.ts';
import { LiveCalls } from '../runtime/order/live-calls.ts';
import { keepUp } from '../storage/upkeep.ts';
import { alwaysInForms } from './approvals/mcp-always.ts';
import { cancelCall, hearCancels } from './follow/cancel-call.ts';
import { type LoadedConfig, loadConfig } from './config/load-config.ts';
import type { Config } from './config/settings.ts';
import { sandboxTrouble } from './diagnose.ts';
import { noRunner } from './agent/missing-runner.ts';
import { oneAtATime } from '../kernel/coalesce.ts';
import { openAnswers } from './open-answers.ts';
import { type App, type AppOptions, openApp } from './open-app.ts';
import { openLog } from './open-log.ts';
import { openSealedStore } from './open-sealed-store.ts';
import { proposeFor } from './approvals/propose-rule.ts';
import { createSettings, reloadRules } from './admin/change-settings.ts';
import { takeOverCalls } from './follow/take-over-calls.ts';
import { tellFileChanges } from './tell-file-changes.ts';
import { undoCall } from './undo-call.ts';
import { VERSION } from './version.ts';
import { workspaceId } from './workspace-id.ts';

export interface HostOptions extends Omit<AppOptions, 'workspace' | 'store' | 'approver'> {
  /** Folders to work in; the first is the default. */
  readonly workspaces: readonly string[];
  /** Nobody can be asked: what needs a person is refused at once, with the rule that would allow it. */
  readonly headless?: boolean;
  /** What drives agents. Left out: manual mode. */
  readonly runner?: (parts: RunnerParts) => SessionRunner;
  /** Take up what ended processes left behind as soon as it is open. Default true; a single command does not. */
  readonly takeOver?: boolean;
}

export interface RunnerParts {
  /** By the id of their workspace. */
  readonly apps: ReadonlyMap<string, App>;
  readonly ledger: Ledger;
  readonly live: LiveCalls;
  readonly appOf: (session: string) => Promise<App | undefined>;
  readonly log: Logger;
  /** Tells whoever listens now; nothing is recorded. */
  tell(event: LiveStreamEvent): void;
}

/** Several workspaces over one store, and all that the doors need of them. */
export interface Host extends Backend {
  readonly config: Config;
  readonly sources: LoadedConfig['sources'];
  readonly stateDir: string;
  readonly apps: ReadonlyMap<string, App>;
  /** Every call that is under way here, whichever door it came through. */
  readonly live: LiveCalls;
  /** Who is asked about calls that come through MCP, and through any other door. */
  readonly mcpApprover: McpApprover;
  /** From now on it looks after what ended processes left behind, and goes on with their runs. */
  takeUp(): void;
  close(): Promise<void>;
}

export async function openHost(options: HostOptions): Promise<Result<Host>> {
  const { workspaces: folders, headless = false, takeOver = true, runner: createRunner, logTo, ...rest } = options;
  const [first] = folders;
  if (first === undefined) return fail('INVALID_INPUT', 'Name a folder to work in.');
  const { env, flags = {}, home } = rest;
  const loaded = await loadConfig({ env, flags, workspace: first, ...(home !== undefined && { home }) });
  if (!loaded.ok) return loaded;
  const { config, sources, stateDir } = loaded.value;
  const opened = await openSealedStore(loaded.value, env);
  if (!opened.ok) return opened;
  const { store: ledger, recorded, blobs, hider } = opened.value;
  const logger = rest.logger ?? (await openLog(loaded.value, hider, logTo));
  const log = logger ?? silentLogger;
  const shared = { ...rest, ...(logger !== undefined && { logger }) };

  const inbox = createInbox(ledger);
  const closing: (() => unknown)[] = [() => ledger.close(), () => inbox.close()];
  const close = async () => {
    for (const each of closing.splice(0).reverse()) {
      await Promise.resolve()
        .then(each)
        .catch((error) => log.error({}, messageOf(error)));
    }
  };
  const live = new LiveCalls();
  const apps = new Map<string, App>();
  const appOf = async (session: string) => apps.get((await ledger.session(session))?.workspace ?? '');
  const headlessly = createHeadless(async (request) => {
    const proposed = await proposeFor(await appOf(request.session), request);
    return proposed.ok ? proposed.value.rules : null;
  });
  const answers = openAnswers(ledger, { appOf, ruleSaved: () => reloadRules(apps) });
  const always = alwaysInForms(answers, async (request) => proposeFor(await appOf(request.session), request));
  const mcpApprover = createMcpApprover(() => ({
    way: config.mcpApprovals,
    inbox,
    headless: headlessly,
    inboxHint,
    always,
  }));
  const approver = headless ? headlessly : mcpApprover;
  for (const workspace of folders) {
    const app = await openApp({ ...shared, workspace, store: opened.value, approver, live });
    if (!app.ok) return close().then(() => app);
    apps.set(workspaceId(app.value.workspace.root), app.value);
    closing.push(() => app.value.close());
  }

  const { tell, onLive } = liveEvents();
  for (const { executor } of apps.values()) {
    executor.on((event) => {
      if (event.type === 'call.progressed') tell(event);
    });
  }
  closing.push(hearCancels(ledger, live));
  const runner = createRunner?.({ apps, ledger, live, appOf, log, tell }) ?? noRunner;
  const takeUp = () => {
    closing.push(
      keepUp(ledger, { retention: () => retentionOf(config), onError: (error) => log.warn({}, messageOf(error)) }),
    );
    closing.push(takeOverCalls(apps, { ledger, log }));
    tellFileChanges(apps, { tell, log });
    runner.takeUp();
  };
  if (takeOver) takeUp();
  return ok({
    version: VERSION,
    config,
    sources,
    stateDir,
    apps,
    mcpApprover,
    ledger,
    recorded,
    blobs,
    hideSecrets: (text) => hider.hide(text),
    live,
    log,
    workspaces: new Map([...apps].map(([id, app]) => [id, toBackend(id, app)])),
    answers,
    settings: createSettings(apps, ledger),
    runner,
    cancel: (call, by) => cancelCall(ledger, live, call, by),
    onLive,
    takeUp,
    close,
  });
}

function toBackend(id: string, app: App): WorkspaceBackend {
  const { registry, executor, context, workspace, sandbox } = app;
  return {
    id,
    name: basename(workspace.root),
    sandbox: sandbox.kind,
    sandboxTrouble: () => sandboxTrouble(app),
    registry,
    executor,
    context,
    world: workspace,
    undo: (callId, by) => undoCall(app, callId, by),
    canUndo: (callId) => workspace.canUndo(callId),
    gitStatus: oneAtATime(() => workspace.gitStatus()),
  };
}

function liveEvents() {
  const listeners = new Set<(event: LiveStreamEvent) => void>();
  return {
    tell(event: LiveStreamEvent) {
      for (const listener of listeners) listener(event);
    },
    onLive(listener: (event: LiveStreamEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** For a client's progress line. */
const inboxHint = 'Answer it in the web app or with toolwright approvals.';

const DAY_MS = 24 * 60 * 60 * 1000;

function retentionOf({ retentionDays, retentionMegabytes }: Config) {
  if (retentionDays === null && retentionMegabytes === null) return undefined;
  return {
    ...(retentionDays !== null && { before: Date.now() - retentionDays * DAY_MS }),
    ...(retentionMegabytes !== null && { maxBytes: retentionMegabytes * 1024 * 1024 }),
  };
}
