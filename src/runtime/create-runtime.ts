import { ToolError } from '../kernel/error.ts';
import type { Approver, BlobStore, Clock, Logger, Policy, Store, Vault } from '../kernel/ports.ts';
import { silentLogger, systemClock } from '../kernel/ports.ts';
import type { World } from '../kernel/world/workspace.ts';
import { hideInStore } from '../secrets/hide-in-store.ts';
import { createHider, type SecretHider } from '../secrets/hide-secrets.ts';
import { MemoryVault } from '../secrets/vault.ts';
import { EventBus } from './event-bus.ts';
import { History } from './history.ts';
import { MemoryBlobs } from './memory/memory-blobs.ts';
import { MemoryStore } from './memory/memory-store.ts';
import { AccessLocks } from './order/access-locks.ts';
import { CallWaiters } from './order/call-waiters.ts';
import type { CallScope } from './pipeline/call-scope.ts';
import { executeCall } from './pipeline/execute.ts';
import type { Hooks } from './pipeline/hooks.ts';
import { keepChanges, runLive } from './pipeline/keep-changes.ts';
import { unconfiguredWorld } from './registry/unconfigured-world.ts';
import { EvictionSignal } from './resume/eviction-signal.ts';
import type { Runtime } from './runtime.ts';
import { SessionFlows } from './session-flows.ts';

/** The choices of a program. Everything has a working default that stays in memory. */
export interface RuntimeOptions {
  /** Default: every call is allowed unless the tool itself asks for approval. */
  policy?: Policy;
  /** Asks for approval; may be a function. Without one, a call that needs approval is refused. */
  approver?: Approver | Approver['ask'];
  /** Seconds a request waits for an answer. Default: as long as the process lives. */
  approvalTimeout?: number;
  hooks?: readonly Hooks[];
  store?: Store;
  blobs?: BlobStore;
  /** Values to hide in every record, beside values shaped like tokens and fields with names such as `password`. */
  secrets?: readonly string[];
  /** Replaces `secrets`: a hider that several runtimes share and that learns further secrets while they run. */
  hider?: SecretHider;
  /** Keeps the true arguments of a call whose record hides some. Default: in memory, so a restart loses them. */
  vault?: Vault;
  /** The files and search that tools use: `openWorkspace` returns one. Default: none. */
  world?: World;
  clock?: Clock;
  /** A pino logger, or anything of its shape. Default: silent. */
  logger?: Logger;
  /** How many executions `getExecutions` keeps. Default 500; a store on disk has them all. */
  historyLimit?: number;
}

/** The tools of a runtime. */
export type ToolLookup = Pick<Runtime, 'find' | 'madeByRuntime'>;

export function createRuntime({ find, madeByRuntime }: ToolLookup, options: RuntimeOptions = {}): Runtime {
  const log = options.logger === undefined ? silentLogger : withoutThrows(options.logger);
  const { approver, approvalTimeout, historyLimit = 500 } = options;
  checkOption({ approvalTimeout }, (seconds) => seconds > 0, 'a number of seconds above 0');
  checkOption({ historyLimit }, (count) => Number.isInteger(count) && count > 0, 'a whole number above 0');
  const open = options.store ?? new MemoryStore({ maxCalls: historyLimit });
  const hider = options.hider ?? createHider(options.secrets);
  const store = hideInStore(open, hider, options.vault ?? new MemoryVault());
  const rt: Runtime = {
    find,
    madeByRuntime,
    policy: options.policy ?? allowAll,
    approver: typeof approver === 'function' ? { ask: approver } : approver,
    approvalTimeoutMs: approvalTimeout === undefined ? undefined : approvalTimeout * 1000,
    hooks: options.hooks ?? [],
    store,
    blobs: options.blobs ?? new MemoryBlobs(),
    world: options.world ?? unconfiguredWorld,
    clock: options.clock ?? systemClock,
    log,
    hider,
    bus: new EventBus(log),
    locks: new AccessLocks(),
    history: new History(historyLimit),
    flows: new SessionFlows(store),
    waiters: new CallWaiters(),
    eviction: EvictionSignal.of(store),
    execute: (request) => executeCall(rt, request),
    keepChanges: (call, stageId) => keepChanges(rt, call as CallScope, stageId),
    runLive: (call) => runLive(rt, call as CallScope),
  };
  return rt;
}

/** The policy of a program without rules: every call runs, except where the tool itself asks for approval. */
export const allowAll: Policy = {
  decide: ({ ownReason }) =>
    ownReason === undefined
      ? { verdict: 'allow', rule: 'allow-all', reason: 'Everything is allowed here.' }
      : { verdict: 'ask', rule: "the tool's own", reason: ownReason },
};

function checkOption(
  option: Record<string, number | undefined>,
  fits: (value: number) => boolean,
  expected: string,
): void {
  const [[name, value] = ['', undefined]] = Object.entries(option);
  if (value === undefined || (typeof value === 'number' && fits(value))) return;
  throw new ToolError('createRuntime', `${name} must be ${expected}, got ${String(value)}.`, { code: 'INVALID_INPUT' });
}

/** Catches what a logger throws: it must not end a call. */
function withoutThrows(logger: Logger): Logger {
  const quietly = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    try {
      logger[level](fields, message);
    } catch {
      // There is nowhere else to report it.
    }
  };
  const [debug, info, warn, error] = [quietly('debug'), quietly('info'), quietly('warn'), quietly('error')];
  const isLevelEnabled: Logger['isLevelEnabled'] = (level) => {
    try {
      return logger.isLevelEnabled(level);
    } catch {
      return true;
    }
  };
  return { debug, info, warn, error, isLevelEnabled };
}
