import type { FinalState } from '../kernel/call.ts';
import type { ToolResult } from '../kernel/tool-result.ts';

/** One finished execution, as a program looks back at it. */
export class ToolExecution {
  readonly callId: string;
  readonly toolName: string;
  readonly params: unknown;
  readonly result: ToolResult;
  readonly state: FinalState;
  readonly durationMs: number;
  readonly #startedMs: number;
  readonly #completedMs: number;

  constructor(
    call: { callId: string; toolName: string; params: unknown },
    end: { result: ToolResult; state: FinalState; startedMs: number; completedMs: number; durationMs: number },
  ) {
    this.callId = call.callId;
    this.toolName = call.toolName;
    this.params = call.params;
    this.result = end.result;
    this.state = end.state;
    this.durationMs = end.durationMs;
    this.#startedMs = end.startedMs;
    this.#completedMs = end.completedMs;
  }

  get startedAt(): Date {
    return new Date(this.#startedMs);
  }
  get completedAt(): Date {
    return new Date(this.#completedMs);
  }
}

const MOST_CHARACTERS = 32 * 1024 * 1024;

/** The latest executions, bounded by count and by the size of what they hold; the store has them all. */
export class History {
  readonly #limit: number;
  readonly #entries: { execution: ToolExecution; size: number }[] = [];
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** `size` in characters, roughly. */
  add(execution: ToolExecution, size: number): void {
    this.#entries.push({ execution, size });
    this.#size += size;
    while (this.#entries.length > this.#limit || this.#size > MOST_CHARACTERS) {
      this.#size -= this.#entries.shift()?.size ?? 0;
    }
  }

  /** Oldest first. */
  all(): ToolExecution[] {
    return this.#entries.map(({ execution }) => execution);
  }

  clear(): void {
    this.#entries.length = 0;
    this.#size = 0;
  }
}
