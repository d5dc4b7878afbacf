/** Whether a call was told to stop. The signal is made when somebody waits for it, which most calls never do. */
export class Stop {
  #stopped = false;
  #controller: AbortController | undefined;
  /** Several may try to take one call over; its entry stays until the last of them is done with it. */
  users = 0;

  get isStopped(): boolean {
    return this.#stopped;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#stopped) this.#controller.abort();
    }
    return this.#controller.signal;
  }

  stop(): void {
    this.#stopped = true;
    this.#controller?.abort();
  }
}

/** Calls of this process that can be stopped by their id, whichever door they came through. */
export class LiveCalls {
  readonly #entries = new Map<string, Stop>();

  /** What the call is given. `end` it when the call is over. */
  begin(callId: string): Stop {
    const entry = this.#entries.get(callId) ?? new Stop();
    entry.users++;
    this.#entries.set(callId, entry);
    return entry;
  }

  end(callId: string): void {
    const entry = this.#entries.get(callId);
    if (entry !== undefined && --entry.users === 0) this.#entries.delete(callId);
  }

  /** False when the call is not one of these. */
  cancel(callId: string): boolean {
    const entry = this.#entries.get(callId);
    entry?.stop();
    return entry !== undefined;
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }
}
