import { api } from '../api/api.ts';

export interface ToolFigures {
  readonly calls: number;
  readonly errors: number;
  readonly p50: number;
  readonly p95: number;
}

const PAGES = 4;

/** How each tool has done, over the newest 2,000 calls. */
export async function loadFigures(): Promise<ReadonlyMap<string, ToolFigures>> {
  const times = new Map<string, { durations: number[]; errors: number }>();
  let after: string | null | undefined;
  for (let page = 0; page < PAGES && after !== null; page++) {
    const found = await api('listHistory', { query: { limit: 500, ...(after !== undefined && { after }) } });
    for (const { tool, state, durationMs } of found.items) {
      const of = times.get(tool) ?? { durations: [], errors: 0 };
      times.set(tool, of);
      of.durations.push(durationMs ?? 0);
      if (state === 'failed' || state === 'timed_out') of.errors++;
    }
    after = found.next;
  }
  return new Map([...times].map(([tool, { durations, errors }]) => [tool, figuresOf(durations, errors)]));
}

function figuresOf(durations: number[], errors: number): ToolFigures {
  durations.sort((a, b) => a - b);
  const at = (share: number) => durations[Math.min(durations.length - 1, Math.floor(share * durations.length))] ?? 0;
  return { calls: durations.length, errors, p50: at(0.5), p95: at(0.95) };
}
