import { expect, test } from 'vitest';
import type { Subject } from '../../src/kernel/ports.ts';
import { ok } from '../../src/kernel/result.ts';
import type { ClassifiedChange, Stage } from '../../src/kernel/world/stage.ts';
import { judgeChanges } from '../../src/policy/judge-changes.ts';
import { changesLine } from '../../src/tools/changes/changes-line.ts';
import { presentChanges } from '../../src/tools/changes/present-changes.ts';
import { selectChanges } from '../../src/tools/changes/select-changes.ts';
import { toChanges } from '../../src/tools/changes/to-changes.ts';
import { toKeptChanges } from '../../src/tools/changes/to-kept-changes.ts';

const MILLION = 1_000_000;
/** Bounds that catch what grows faster than the list. */
const SOON_MS = 120_000;
const MAX_HEAP_BYTES = 3 * 1024 ** 3;

function million(about: Partial<ClassifiedChange>): ClassifiedChange[] {
  return Array.from({ length: MILLION }, (_, at) => ({
    ...{ path: `packages/p${at % 1_000}/src/d${at % 97}/f${at}.ts`, kind: 'created', class: 'new', before: null },
    ...{ after: { type: 'file', mode: 0o644, size: 1_000, version: 'v' } },
    ...about,
  })) as ClassifiedChange[];
}

test.each<[string, Partial<ClassifiedChange>]>([
  ['new files', {}],
  ['deletions', { kind: 'deleted', class: 'ordinary', before: null, after: null }],
])(
  'a list of a million %s is judged, shown, kept in part and told',
  async (_what, about) => {
    const changes = million(about);
    const stage = {
      changes,
      title: 'x',
      repository: [],
      isPartial: false,
      contentOf: (path: string) => path,
      read: async () => ok(null),
    } as never as Stage;
    const started = performance.now();
    const subject = { tool: 'apply_changes', changes, isPartial: false, allowedBy: null } as never as Subject;
    const [whole, ...parts] = judgeChanges(subject, { mode: 'ask', rules: [] } as never);
    expect(whole?.reason).toContain('1,000,000');
    expect(parts.length).toBeLessThan(2_000);
    const block = await presentChanges(stage, changes);
    if (block.kind !== 'changes') throw new Error('no changes');
    expect([block.total, block.truncated]).toEqual([MILLION, true]);
    expect(JSON.stringify(block).length).toBeLessThan(1_000_000);
    const chosen = Array.from({ length: 500 }, (_, at) => `packages/p${at}`);
    const selected = selectChanges(stage, chosen);
    if (!selected.ok) throw new Error(selected.error.message);
    expect(selected.value.kept).toHaveLength(MILLION / 2);
    expect(toChanges(stage, selected.value, new Map()).ok).toBe(true);
    const outcome = toKeptChanges({ kept: changes, left: [] }, []);
    const [line = ''] = changesLine(outcome);
    expect(line.length).toBeLessThan(3_000);
    const told = outcome.deleted.reduce((sum, { inside = 1 }) => sum + inside, outcome.counts.created);
    expect(told).toBe(MILLION);
    expect(performance.now() - started).toBeLessThan(SOON_MS);
    expect(process.memoryUsage().heapUsed).toBeLessThan(MAX_HEAP_BYTES);
  },
  180_000,
);
