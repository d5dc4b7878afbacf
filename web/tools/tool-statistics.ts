import { api } from '../api/api.ts';
import { formatDuration } from '../show/format.ts';
import { phaseOf } from '../state/feed.ts';

export interface ToolStatistics {
  readonly calls: number;
  readonly errors: number;
  /** Milliseconds, over the calls that ran. */
  readonly p50: number | null;
  readonly p95: number | null;
}

const MAX_PAGES = 4;

/** Counts calls, errors and durations by tool over the newest 2,000 calls. A command that failed is an error. */
export async function loadStatistics(): Promise<ReadonlyMap<string, ToolStatistics>> {
  const times = new Map<string, ToolCounts>();
  let after: string | null | undefined;
  for (let page = 0; page < MAX_PAGES && after !== null; page++) {
    const found = await api('listHistory', { query: { limit: 500, ...(after !== undefined && { after }) } });
    for (const { tool, state, outcome, startedAt, durationMs } of found.items) {
      const of = times.get(tool) ?? { calls: 0, errors: 0, durations: [] };
      times.set(tool, of);
      of.calls++;
      // A call that was refused or never ran says nothing about the tool's speed.
      if (startedAt !== null && durationMs !== null) of.durations.push(durationMs);
      if (phaseOf({ state, outcome }) === 'failed') of.errors++;
    }
    after = found.next;
  }
  return new Map([...times].map(([tool, counted]) => [tool, toStatistics(counted)]));
}

interface ToolCounts {
  calls: number;
  errors: number;
  readonly durations: number[];
}

export function toStatistics({ calls, errors, durations }: ToolCounts): ToolStatistics {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? null;
  return { calls, errors, p50: at(0.5), p95: at(0.95) };
}

/** `2 ms / 14 ms`, or a dash where nothing ran. */
export function formatTimes({ p50, p95 }: ToolStatistics): string {
  return p50 === null || p95 === null ? '–' : `${formatDuration(p50)} / ${formatDuration(p95)}`;
}

export function formatErrorRate({ calls, errors }: ToolStatistics): string {
  return `${Math.round((100 * errors) / calls)} %`;
}
