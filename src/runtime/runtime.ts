import type { Approver, BlobStore, Clock, Logger, Policy, Store, Witness } from '../kernel/ports.ts';
import type { Result } from '../kernel/result.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { World } from '../kernel/world/workspace.ts';
import type { AccessLocks } from './order/access-locks.ts';
import type { EventBus } from './event-bus.ts';
import type { GivenUp } from './given-up.ts';
import type { SecretHider } from './hide-secrets.ts';
import type { History } from './history.ts';
import type { Hooks } from './pipeline/hooks.ts';
import type { Waiting } from './order/call-waiters.ts';

/** Everything a call meets on its way. Built once, in one place (see `createRuntime`), and handed down. */
export interface Runtime {
  /** By name or alias. UNKNOWN_TOOL or TOOL_DISABLED otherwise. */
  readonly find: (name: string) => Result<Tool>;
  readonly policy: Policy;
  /** Without one, a call that must be asked about is refused. */
  readonly approver: Approver | undefined;
  /** How long a request waits for an answer; undefined waits as long as the process lives. */
  readonly approvalTimeoutMs: number | undefined;
  /** Without one, an answer is bound to the arguments alone. */
  readonly witness: Witness | undefined;
  readonly hooks: readonly Hooks[];
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly world: World;
  readonly clock: Clock;
  readonly log: Logger;
  /** Of what is logged and told live; the store hides for itself. */
  readonly hider: SecretHider;
  readonly bus: EventBus;
  readonly locks: AccessLocks;
  readonly history: History;
  readonly waiting: Waiting;
  readonly givenUp: GivenUp | undefined;
}
