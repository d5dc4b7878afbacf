import type { ToolResult } from '../../kernel/tool/tool-result.ts';

/** Who in this process waits for which call; they are told its result when the store cannot tell them. */
export class Waiting {
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
