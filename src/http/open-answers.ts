import type { ServerResponse } from 'node:http';

/** The answers that each token has open, so that a token which stops counting takes its streams along. */
export class OpenAnswers {
  readonly #byToken = new Map<string, Set<ServerResponse>>();

  add(tokenHash: string, answer: ServerResponse): void {
    const open = this.#byToken.get(tokenHash) ?? new Set();
    this.#byToken.set(tokenHash, open.add(answer));
    answer.once('close', () => {
      open.delete(answer);
      if (open.size === 0 && this.#byToken.get(tokenHash) === open) this.#byToken.delete(tokenHash);
    });
  }

  /** Ends what is being streamed. A request that waits for its answer still gets it: it was let in before. */
  cut(tokenHash: string): void {
    for (const answer of this.#byToken.get(tokenHash) ?? []) if (answer.headersSent) answer.destroy();
  }
}
