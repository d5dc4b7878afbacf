import { ToolError } from '../kernel/error.ts';
import type { Approver, BlobStore, Clock, Logger, Policy, Store, Vault, Witness } from '../kernel/ports.ts';
import { silentLogger } from '../kernel/silent-logger.ts';
import { systemClock } from '../kernel/system-clock.ts';
import type { World } from '../kernel/world/workspace.ts';
import { AccessLocks } from './order/access-locks.ts';
import { EventBus } from './event-bus.ts';
import { GivenUp } from './given-up.ts';
import { createHider, type SecretHider } from './hide-secrets.ts';
import { History } from './history.ts';
import type { Hooks } from './pipeline/hooks.ts';
import { MemoryBlobs } from './memory/memory-blobs.ts';
import { MemoryStore } from './memory/memory-store.ts';
import { MemoryVault } from './memory-vault.ts';
import { noWorld } from './registry/unconfigured-world.ts';
import type { Runtime } from './runtime.ts';
import { sealStore } from '../secrets/hide-in-store.ts';
import { Waiting } from './order/call-waiters.ts';

/** What may be chosen; everything has a working default that stays in memory. */
export interface RuntimeOptions {
  /** Default: what the tools themselves do not ask about is allowed. */
  policy?: Policy;
  /** Who is asked; a function will do. Without one, a call that must be asked about is refused. */
  approver?: Approver | Approver['ask'];
  /** Seconds a request waits for an answer. Default: as long as the process lives. */
  approvalTimeout?: number;
  /** Binds an answer to what the call would touch, as it stood when the question was shown. */
  witness?: Witness;
  hooks?: readonly Hooks[];
  store?: Store;
  blobs?: BlobStore;
  /** Values that no record shows, beside what has the shape of a token or a name such as `password`. */
  secrets?: readonly string[];
  /** In place of `secrets`: what several share, and what learns of more while they run. */
  hider?: SecretHider;
  /** Where a call's true arguments wait while its record hides some. Default: in memory, so a restart loses them. */
  vault?: Vault;
  /** The files and the search that tools reach: `openWorkspace` gives one. Default: none. */
  world?: World;
  clock?: Clock;
  /** A pino logger, or anything of its shape. Default: silent. */
  logger?: Logger;
  /** How many executions `getExecutions` remembers. Default 500; a store on disk has them all. */
  historyLimit?: number;
}

export function createRuntime(find: Runtime['find'], options: RuntimeOptions = {}): Runtime {
  const log = options.logger === undefined ? silentLogger : patient(options.logger);
  const { approver, approvalTimeout, historyLimit = 500 } = options;
  mustBe('approvalTimeout', approvalTimeout, (seconds) => seconds > 0, 'a number of seconds above 0');
  mustBe('historyLimit', historyLimit, (count) => Number.isInteger(count) && count > 0, 'a whole number above 0');
  const open = options.store ?? new MemoryStore({ maxCalls: historyLimit });
  const hider = options.hider ?? createHider(options.secrets);
  const store = sealStore(open, hider, options.vault ?? new MemoryVault());
  return {
    find,
    policy: options.policy ?? allowAll,
    approver: typeof approver === 'function' ? { ask: approver } : approver,
    approvalTimeoutMs: approvalTimeout === undefined ? undefined : approvalTimeout * 1000,
    witness: options.witness,
    hooks: options.hooks ?? [],
    store,
    blobs: options.blobs ?? new MemoryBlobs(),
    world: options.world ?? noWorld,
    clock: options.clock ?? systemClock,
    log,
    hider,
    bus: new EventBus(log),
    locks: new AccessLocks(),
    history: new History(historyLimit),
    waiting: new Waiting(),
    givenUp: GivenUp.of(store),
  };
}

/** For a library whose user brought no rules: everything runs, except what a tool itself wants asked. */
export const allowAll: Policy = {
  decide: ({ ownReason }) =>
    ownReason === undefined
      ? { verdict: 'allow', rule: 'allow-all', reason: 'Everything is allowed here.' }
      : { verdict: 'ask', rule: "the tool's own", reason: ownReason },
};

function mustBe(name: string, value: number | undefined, fits: (value: number) => boolean, what: string): void {
  if (value === undefined || (typeof value === 'number' && fits(value))) return;
  throw new ToolError('createRuntime', `${name} must be ${what}, got ${String(value)}.`, { code: 'INVALID_INPUT' });
}

/** A logger that throws must not end a call. */
function patient(logger: Logger): Logger {
  const quietly = (level: 'debug' | 'info' | 'warn' | 'error') => (fields: object, message: string) => {
    try {
      logger[level](fields, message);
    } catch {
      // There is nobody left to tell.
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
