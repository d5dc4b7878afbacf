/** Calls of this process that can be stopped by their id, whichever door they came through. */
export class LiveCalls {
  readonly #stops = new Map<string, AbortController>();
  #isClosed = false;

  /** The signal to give to the call. `end` it when the call is over. */
  begin(callId: string): AbortSignal {
    const stop = new AbortController();
    if (this.#isClosed) stop.abort();
    this.#stops.set(callId, stop);
    return stop.signal;
  }

  /** Only the one that began with this signal: somebody may try to take a call over that is under way already. */
  end(callId: string, begun: AbortSignal): void {
    if (this.#stops.get(callId)?.signal === begun) this.#stops.delete(callId);
  }

  /** False when the call is not one of these. */
  cancel(callId: string): boolean {
    const stop = this.#stops.get(callId);
    stop?.abort();
    return stop !== undefined;
  }

  /** From now on calls that come are cancelled before they start. */
  close(): void {
    this.#isClosed = true;
  }

  ids(): string[] {
    return [...this.#stops.keys()];
  }
}
