interface Entry {
  readonly stop: AbortController;
  /** Several may try to take one call over; the entry stays until the last of them is done with it. */
  users: number;
}

/** Calls of this process that can be stopped by their id, whichever door they came through. */
export class LiveCalls {
  readonly #entries = new Map<string, Entry>();

  /** The signal to give to the call. `end` it when the call is over. */
  begin(callId: string): AbortSignal {
    const entry = this.#entries.get(callId) ?? { stop: new AbortController(), users: 0 };
    entry.users++;
    this.#entries.set(callId, entry);
    return entry.stop.signal;
  }

  end(callId: string): void {
    const entry = this.#entries.get(callId);
    if (entry !== undefined && --entry.users === 0) this.#entries.delete(callId);
  }

  /** False when the call is not one of these. */
  cancel(callId: string): boolean {
    const entry = this.#entries.get(callId);
    entry?.stop.abort();
    return entry !== undefined;
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }
}
