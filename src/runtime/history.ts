import type { FinalState } from '../kernel/call/call.ts';
import type { ToolResult } from '../kernel/tool/tool-result.ts';
import { Ring } from './memory/ring.ts';

/** One finished execution, as a program looks back at it. */
export class ToolExecution {
  readonly callId: string;
  readonly toolName: string;
  readonly params: unknown;
  readonly result: ToolResult;
  readonly state: FinalState;
  readonly startedMs: number;
  readonly completedMs: number;
  /** From the monotonic clock. */
  readonly durationMs: number;

  constructor(execution: Omit<ToolExecution, 'startedAt' | 'completedAt'>) {
    this.callId = execution.callId;
    this.toolName = execution.toolName;
    this.params = execution.params;
    this.result = execution.result;
    this.state = execution.state;
    this.startedMs = execution.startedMs;
    this.completedMs = execution.completedMs;
    this.durationMs = execution.durationMs;
  }

  get startedAt(): Date {
    return new Date(this.startedMs);
  }
  get completedAt(): Date {
    return new Date(this.completedMs);
  }
}

const MAX_CHARACTERS = 32 * 1024 * 1024;

/** The latest executions, bounded by count and by size; the store has them all. */
export class History {
  readonly #entries: Ring<{ execution: ToolExecution; size: number }>;
  #size = 0;

  constructor(limit: number) {
    this.#entries = new Ring(limit);
  }

  /** `size` in characters, roughly. */
  add(execution: ToolExecution, size: number): void {
    this.#size += size - (this.#entries.add({ execution, size })?.size ?? 0);
    if (this.#size > MAX_CHARACTERS) this.#forgetHalf();
  }

  /** Oldest first. */
  all(): ToolExecution[] {
    return this.#entries.all().map(({ execution }) => execution);
  }

  clear(): void {
    this.#entries.replaceAll([]);
    this.#size = 0;
  }

  /** Rare: only outputs much larger than a model could read get here. */
  #forgetHalf(): void {
    const all = this.#entries.all();
    const kept = all.slice(Math.ceil(all.length / 2));
    this.#entries.replaceAll(kept);
    this.#size = kept.reduce((sum, { size }) => sum + size, 0);
  }
}
