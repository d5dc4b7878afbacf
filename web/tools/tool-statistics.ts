import { api } from '../api/api.ts';
import { duration } from '../show/format.ts';

export interface ToolFigures {
  readonly calls: number;
  readonly errors: number;
  /** Of those that ran. */
  readonly p50: number | null;
  readonly p95: number | null;
}

const PAGES = 4;

/** How each tool has done, over the newest 2,000 calls. */
export async function loadFigures(): Promise<ReadonlyMap<string, ToolFigures>> {
  const times = new Map<string, Counted>();
  let after: string | null | undefined;
  for (let page = 0; page < PAGES && after !== null; page++) {
    const found = await api('listHistory', { query: { limit: 500, ...(after !== undefined && { after }) } });
    for (const { tool, state, startedAt, durationMs } of found.items) {
      const of = times.get(tool) ?? { calls: 0, errors: 0, durations: [] };
      times.set(tool, of);
      of.calls++;
      // What was refused, or never ran, says nothing about how long the tool takes.
      if (startedAt !== null && durationMs !== null) of.durations.push(durationMs);
      if (state === 'failed' || state === 'timed_out') of.errors++;
    }
    after = found.next;
  }
  return new Map([...times].map(([tool, counted]) => [tool, figuresOf(counted)]));
}

interface Counted {
  calls: number;
  errors: number;
  readonly durations: number[];
}

export function figuresOf({ calls, errors, durations }: Counted): ToolFigures {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
  return { calls, errors, p50: at(0.5), p95: at(0.95) };
}

/** `2 ms / 14 ms`, or a dash where nothing ran. */
export function timesText({ p50, p95 }: ToolFigures): string {
  return p50 === null || p95 === null ? '–' : `${duration(p50)} / ${duration(p95)}`;
}

export function errorText({ calls, errors }: ToolFigures): string {
  return `${Math.round((100 * errors) / calls)} %`;
}
