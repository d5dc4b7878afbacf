import type { ProcessSample } from '../../host/proc.ts';

/** Counts the use of a process tree since it began, including ended processes. */
export interface TreeUsageCounter {
  add(samples: readonly ProcessSample[]): { cpuMs: number; writtenBytes: number };
}

type Figure = 'cpuMs' | 'writtenBytes';

/**
 * The kernel adds the figures of a child to a parent that waits for it; a parent that ignores its children loses them. So
 * the last known figures of a process stay counted, and growth that may come from an ended child is not counted again.
 * Where the two cannot be told apart this counts too little, never too much.
 */
export function createTreeUsageCounter(root: number): TreeUsageCounter {
  const total = { cpuMs: 0, writtenBytes: 0 };
  let before = new Map<number, ProcessSample>();

  function addFigure(figure: Figure, now: ReadonlyMap<number, ProcessSample>): number {
    const takenOver = takeovers(figure, now);
    for (const sample of now.values()) {
      const known = before.get(sample.pid);
      const isSame = known !== undefined && known.startTime === sample.startTime;
      if (!isSame) total[figure] += sample[figure];
      else total[figure] += Math.max(0, sample[figure] - known[figure] - (takenOver.get(sample.pid) ?? 0));
    }
    const living = [...now.values()].reduce((sum, sample) => sum + sample[figure], 0);
    total[figure] = Math.max(total[figure], living);
    return total[figure];
  }

  /** Figures of ended processes that living ones may have taken over: the nearest living ancestor, or the root, which adopts orphans. */
  function takeovers(figure: Figure, now: ReadonlyMap<number, ProcessSample>): Map<number, number> {
    const result = new Map<number, number>();
    for (const gone of before.values()) {
      if (now.get(gone.pid)?.startTime === gone.startTime) continue;
      let heir = gone.parent;
      for (let steps = 0; !now.has(heir) && before.has(heir) && steps < 1_000; steps++) {
        heir = before.get(heir)?.parent ?? root;
      }
      for (const each of new Set([heir, root])) result.set(each, (result.get(each) ?? 0) + gone[figure]);
    }
    return result;
  }

  return {
    add(samples) {
      const now = new Map(samples.map((sample) => [sample.pid, sample]));
      const use = { cpuMs: addFigure('cpuMs', now), writtenBytes: addFigure('writtenBytes', now) };
      before = now;
      return use;
    },
  };
}
