import type { Approver, BlobStore, Clock, Logger, Policy, Store } from '../kernel/ports.ts';
import type { Result } from '../kernel/result.ts';
import type { Tool } from '../kernel/tool/tool.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import type { World } from '../kernel/world/workspace.ts';
import type { SecretHider } from '../secrets/hide-secrets.ts';
import type { EventBus } from './event-bus.ts';
import type { History } from './history.ts';
import type { AccessLocks } from './order/access-locks.ts';
import type { CallWaiters } from './order/call-waiters.ts';
import type { ContextParts } from './pipeline/call-context.ts';
import type { CallRequest } from './pipeline/call-scope.ts';
import type { Hooks } from './pipeline/hooks.ts';
import type { EvictionSignal } from './resume/eviction-signal.ts';
import type { SessionFlows } from './session-flows.ts';

/** All parts that a call uses. Built once, by `createRuntime`, and passed down. */
export interface Runtime {
  /** Finds a tool by name or alias; fails with UNKNOWN_TOOL or TOOL_DISABLED. */
  readonly find: (name: string) => Result<Tool>;
  /** The tool that keeps pending changes. In no list: only the runtime calls it. */
  readonly madeByRuntime: () => Tool | undefined;
  readonly policy: Policy;
  /** Without one, a call that needs approval is refused. */
  readonly approver: Approver | undefined;
  /** How long a request waits for an answer; undefined waits as long as the process lives. */
  readonly approvalTimeoutMs: number | undefined;
  readonly hooks: readonly Hooks[];
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly world: World;
  readonly clock: Clock;
  readonly log: Logger;
  /** For logs and live events; the store hides secrets by itself. */
  readonly hider: SecretHider;
  readonly bus: EventBus;
  readonly locks: AccessLocks;
  readonly history: History;
  readonly flows: SessionFlows;
  readonly waiters: CallWaiters;
  readonly eviction: EvictionSignal | undefined;
  /** Runs a call inside another one. */
  readonly execute: (request: CallRequest) => Promise<ToolResult>;
  readonly keepChanges: ContextParts['keepChanges'];
  readonly runLive: ContextParts['runLive'];
}
