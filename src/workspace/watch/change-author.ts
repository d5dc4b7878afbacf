import type { Stats } from 'node:fs';
import type { AppliedChange } from '../../kernel/world/workspace.ts';

const LATE_MS = 5000;
const MAX_PATHS = 1000;

/** Tells which call made a change that a watch notices. Remembers only while there is a watch, and not for long. */
export class ChangeAuthors {
  readonly #changes = new Map<string, { callId: string; at: number; modified: number | null }>();
  #watching = 0;

  watched(by: 1 | -1): void {
    this.#watching += by;
    if (this.#watching === 0) this.#changes.clear();
  }

  /** `modified` looks a path up: null when nothing is there. */
  note(callId: string, applied: readonly AppliedChange[], modified: (path: string) => number | null): void {
    if (this.#watching === 0) return;
    for (const path of applied.flatMap((each) => (each.kind === 'move' ? [each.from, each.to] : [each.path]))) {
      this.#changes.delete(path);
      this.#changes.set(path, { callId, at: performance.now(), modified: modified(path) });
    }
    for (const path of this.#changes.keys()) {
      if (this.#changes.size <= MAX_PATHS) return;
      this.#changes.delete(path);
    }
  }

  /** Null when no call changed the path, or another writer changed it since. */
  of(path: string, stat: Pick<Stats, 'mtimeMs'> | null): string | null {
    const known = this.#changes.get(path);
    if (known === undefined || performance.now() - known.at > LATE_MS) return null;
    return stat === null || known.modified === stat.mtimeMs ? known.callId : null;
  }
}
