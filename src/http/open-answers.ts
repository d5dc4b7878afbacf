import type { ServerResponse } from 'node:http';

/** The answers that each token has open, so that a token which stops counting takes its streams along. */
export class OpenAnswers {
  readonly #byToken = new Map<string, Set<ServerResponse>>();
  readonly #cut = new WeakSet<ServerResponse>();

  add(tokenHash: string, answer: ServerResponse): void {
    const open = this.#byToken.get(tokenHash) ?? new Set();
    this.#byToken.set(tokenHash, open.add(answer));
    answer.once('close', () => {
      open.delete(answer);
      if (open.size === 0 && this.#byToken.get(tokenHash) === open) this.#byToken.delete(tokenHash);
    });
  }

  /** Ends what is being streamed. A request that waits for its answer still gets it, unless that is a stream. */
  cut(tokenHash: string): void {
    for (const answer of this.#byToken.get(tokenHash) ?? []) {
      this.#cut.add(answer);
      if (answer.headersSent) answer.destroy();
    }
  }

  /** Whether its token stopped counting after it was let in: then no stream may begin. */
  wasCut(answer: ServerResponse): boolean {
    return this.#cut.has(answer);
  }
}
