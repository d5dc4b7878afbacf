import type { Stats } from 'node:fs';
import type { Applied } from '../../kernel/world/workspace.ts';

const LATE_MS = 5000;
const MOST = 1000;

/** Which call made a change that is about to be noticed. Remembers only while somebody watches, and not for long. */
export class ByWhom {
  readonly #changes = new Map<string, { callId: string; at: number; modified: number | null }>();
  #watching = 0;

  watched(by: 1 | -1): void {
    this.#watching += by;
    if (this.#watching === 0) this.#changes.clear();
  }

  /** `modified` looks a path up: null when nothing is there. */
  note(callId: string, applied: readonly Applied[], modified: (path: string) => number | null): void {
    if (this.#watching === 0) return;
    for (const path of applied.flatMap((each) => (each.kind === 'move' ? [each.from, each.to] : [each.path]))) {
      this.#changes.delete(path);
      this.#changes.set(path, { callId, at: performance.now(), modified: modified(path) });
    }
    for (const path of this.#changes.keys()) {
      if (this.#changes.size <= MOST) return;
      this.#changes.delete(path);
    }
  }

  /** Null when nobody here changed it, or somebody else did so again since. */
  of(path: string, stat: Pick<Stats, 'mtimeMs'> | null): string | null {
    const known = this.#changes.get(path);
    if (known === undefined || performance.now() - known.at > LATE_MS) return null;
    return stat === null || known.modified === stat.mtimeMs ? known.callId : null;
  }
}
