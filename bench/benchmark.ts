/** One line of a benchmark: ours and the peer's, measured in the same run. */
export interface Measurement {
  what: string;
  ours: number;
  /** The value of a peer or of the physical limit. Null where the goal is absolute. */
  peer: number | null;
  unit: string;
  /** How much better we are than the peer, or how near the limit: see `what`. */
  ratio: number | null;
  /** The goal in words; empty where the figure is only reported. */
  goal: string;
  met: boolean;
}

/** A file in bench/ exports one of these as `benchmark`; its file name is its name on the command line. */
export interface Benchmark {
  about: string;
  run(): Promise<Measurement[]>;
}

/** Compares a time or cost with the peer's. Less is better; the goal is at least `atLeast` times less. */
export function timesLess(what: string, ours: number, peer: number, unit: string, atLeast?: number): Measurement {
  const ratio = peer / ours;
  const goal = atLeast === undefined ? '' : `at least ${atLeast} × less than the peer`;
  return { what, ours, peer, unit, ratio, goal, met: atLeast === undefined || ratio >= atLeast };
}

/** Compares a time or cost with a physical limit. The goal is at most `atMost` times the limit. */
export function timesTheLimit(what: string, ours: number, limit: number, unit: string, atMost?: number): Measurement {
  const ratio = ours / limit;
  const goal = atMost === undefined ? '' : `at most ${atMost} × the limit`;
  return { what, ours, peer: limit, unit, ratio, goal, met: atMost === undefined || ratio <= atMost };
}

export function atMost(what: string, ours: number, unit: string, most: number): Measurement {
  return { what, ours, peer: null, unit, ratio: null, goal: `at most ${most} ${unit}`, met: ours <= most };
}

/** A figure without a goal. */
export function reported(what: string, ours: number, unit: string, peer: number | null = null): Measurement {
  return { what, ours, peer, unit, ratio: peer === null ? null : ours / peer, goal: '', met: true };
}

/** Median nanoseconds of one round, over `samples` samples of `rounds` rounds, after as many to warm up. */
export async function nanoseconds(rounds: number, samples: number, round: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let sample = -2; sample < samples; sample++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < rounds; i++) await round();
    const each = Number(process.hrtime.bigint() - start) / rounds;
    if (sample >= 0) times.push(each);
  }
  return median(times);
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
