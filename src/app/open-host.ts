import { basename } from 'node:path';
import { createHeadless } from '../approval/headless.ts';
import { createInbox } from '../approval/inbox.ts';
import type { Backend, SessionRunner, WorkspaceBackend } from '../http/backend.ts';
import type { ApprovalAnswers } from '../kernel/call/approval-answers.ts';
import type { Ledger } from '../kernel/call/ledger.ts';
import { coalesce } from '../kernel/coalesce.ts';
import { messageOf } from '../kernel/error.ts';
import type { Logger } from '../kernel/ports.ts';
import { silentLogger } from '../kernel/ports.ts';
import { fail, ok, type Result } from '../kernel/result.ts';
import { createMcpApprover, type McpApprover } from '../mcp/server/approver.ts';
import type { LiveStreamEvent } from '../protocol/events.ts';
import { LiveCalls } from '../runtime/order/live-calls.ts';
import { keepUp } from '../storage/upkeep.ts';
import { createSettings, reloadRules } from './admin/change-settings.ts';
import { openPendingChanges } from './admin/pending-changes.ts';
import { undoCall } from './admin/undo-call.ts';
import { missingRunner } from './agent/missing-runner.ts';
import { alwaysInForms } from './approvals/mcp-always.ts';
import { openAnswers } from './approvals/open-answers.ts';
import { proposeRules } from './approvals/propose-rule.ts';
import { type LoadedConfig, loadConfig } from './config/load-config.ts';
import type { Config } from './config/settings.ts';
import { sandboxTrouble } from './diagnose.ts';
import { cancelCall, followCancels } from './follow/cancel-call.ts';
import { tellFileChanges } from './follow/file-notices.ts';
import { takeOverCalls } from './follow/take-over-calls.ts';
import { type App, type AppOptions, openApp } from './open-app.ts';
import { openLog } from './open-log.ts';
import { openSealedStore } from './open-sealed-store.ts';
import { VERSION } from './version.ts';
import { workspaceId } from './workspace-id.ts';

export interface HostOptions extends Omit<AppOptions, 'workspace' | 'store' | 'approver'> {
  /** Folders to work in; the first is the default. */
  readonly workspaces: readonly string[];
  /** Nobody can be asked: a call that needs approval is refused at once, with the rule that would allow it. */
  readonly headless?: boolean;
  /** Runs agents. Left out: manual mode. */
  readonly runner?: (parts: RunnerParts) => SessionRunner;
  /** Takes over calls and runs of ended processes once open. Default true; a single command does not. */
  readonly takeOver?: boolean;
}

export interface RunnerParts {
  /** By the id of their workspace. */
  readonly apps: ReadonlyMap<string, App>;
  readonly ledger: Ledger;
  readonly appOf: (session: string) => Promise<App | undefined>;
  readonly log: Logger;
  /** Sends an event to the present listeners; it is not recorded. */
  tell(event: LiveStreamEvent): void;
}

/** Several workspaces over one store, with everything that the doors use. */
export interface Host extends Backend {
  readonly config: Config;
  readonly sources: LoadedConfig['sources'];
  readonly stateDir: string;
  readonly apps: ReadonlyMap<string, App>;
  /** Every call under way in this process, from any door. */
  readonly live: LiveCalls;
  /** Asks for approval of calls from MCP and every other door. */
  readonly mcpApprover: McpApprover;
  /** Starts to take over calls of ended processes and to continue their runs. */
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
    const proposed = await proposeRules(await appOf(request.session), request);
    return proposed.ok ? proposed.value.rules : null;
  });
  const answers = openAnswers(ledger, { appOf, ruleSaved: () => reloadRules(apps) });
  const always = alwaysInForms(answers, async (request) => proposeRules(await appOf(request.session), request));
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
    executor.on((event) => event.type === 'call.progressed' && tell(event), ['call.progressed']);
  }
  closing.push(followCancels(ledger, live));
  const runner = createRunner?.({ apps, ledger, appOf, log, tell }) ?? missingRunner;
  const takeUp = () => {
    closing.push(
      keepUp(ledger, { retention: () => retentionOf(config), onError: (error) => log.warn({}, messageOf(error)) }),
    );
    closing.push(takeOverCalls(apps, { ledger, log }));
    tellFileChanges(apps, { tell, log });
    // Ahead of the first command, which would wait for it.
    for (const { sandbox, workspace } of apps.values()) sandbox.prepare?.(workspace.root);
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
    workspaces: new Map([...apps].map(([id, app]) => [id, toBackend(id, app, answers)])),
    answers,
    settings: createSettings(apps, ledger),
    runner,
    cancel: (call, by) => cancelCall(ledger, live, call, by),
    onLive,
    takeUp,
    close,
  });
}

function toBackend(id: string, app: App, answers: ApprovalAnswers): WorkspaceBackend {
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
    changes: openPendingChanges(app, answers),
    readForOwner: (path) => workspace.readForOwner(path),
    gitStatus: coalesce(() => workspace.gitStatus()),
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

/** For the progress line of a client. */
const inboxHint = 'Answer it in the web app or with toolwright approvals.';

const DAY_MS = 24 * 60 * 60 * 1000;

function retentionOf({ retentionDays, retentionMegabytes }: Config) {
  if (retentionDays === null && retentionMegabytes === null) return undefined;
  return {
    ...(retentionDays !== null && { before: Date.now() - retentionDays * DAY_MS }),
    ...(retentionMegabytes !== null && { maxBytes: retentionMegabytes * 1024 * 1024 }),
  };
}
