/** Calls of this process that can be stopped by their id, whichever door started them. */
export class LiveCalls {
  readonly #stops = new Map<string, AbortController>();

  /** The signal to give to the call. `end` it when the call is over. */
  begin(callId: string): AbortSignal {
    const stop = new AbortController();
    this.#stops.set(callId, stop);
    return stop.signal;
  }

  end(callId: string): void {
    this.#stops.delete(callId);
  }

  /** False when the call is not one of these. */
  cancel(callId: string): boolean {
    const stop = this.#stops.get(callId);
    stop?.abort();
    return stop !== undefined;
  }

  get size(): number {
    return this.#stops.size;
  }

  ids(): string[] {
    return [...this.#stops.keys()];
  }
}
