import type { ToolResult } from '../../kernel/tool/tool-result.ts';

/** Callers of this process that wait for a call. They get its result from here when it could not be recorded. */
export class CallWaiters {
  readonly #byCall = new Map<string, Set<(result: ToolResult) => void>>();

  add(callId: string, tell: (result: ToolResult) => void): () => void {
    const waiting = this.#byCall.get(callId) ?? new Set();
    this.#byCall.set(callId, waiting.add(tell));
    return () => {
      waiting.delete(tell);
      if (waiting.size === 0) this.#byCall.delete(callId);
    };
  }

  tell(callId: string, result: ToolResult): void {
    for (const tell of this.#byCall.get(callId) ?? []) tell(result);
  }
}
