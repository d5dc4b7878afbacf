/** Stops one call. The signal is created on first use, because most calls never wait for it. */
export class StopSwitch {
  #stopped = false;
  #controller: AbortController | undefined;
  /** Counts attempts to take the call over; its entry stays until the last of them has ended. */
  users = 0;
  /** The call inside which this one was made. */
  readonly outer: string | undefined;

  constructor(outer?: string) {
    this.outer = outer;
  }

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

/** The calls of this process from every door, which can be stopped by their id. */
export class LiveCalls {
  readonly #entries = new Map<string, StopSwitch>();

  /** Returns the switch for a call, made inside `outer` if given. Call `end` when the call has ended. */
  begin(callId: string, outer?: string): StopSwitch {
    const entry = this.#entries.get(callId) ?? new StopSwitch(outer);
    entry.users++;
    this.#entries.set(callId, entry);
    return entry;
  }

  end(callId: string): void {
    const entry = this.#entries.get(callId);
    if (entry !== undefined && --entry.users === 0) this.#entries.delete(callId);
  }

  /** Returns false for a call that does not run in this process. */
  cancel(callId: string): boolean {
    const entry = this.#entries.get(callId);
    entry?.stop();
    return entry !== undefined;
  }

  ids(): string[] {
    return [...this.#entries.keys()];
  }

  /** The call and those around it, from the inside out. */
  chainOf(callId: string): string[] {
    const chain: string[] = [];
    for (let at: string | undefined = callId; at !== undefined; at = this.#entries.get(at)?.outer) chain.push(at);
    return chain;
  }
}
