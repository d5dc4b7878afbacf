import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/storage/sqlite/open.ts';
import { compileProgram } from './compile-program.ts';

const program = compileProgram('test/faults/caller-program.ts');
afterAll(() => rmSync(dirname(dirname(dirname(program))), { recursive: true }));

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'caller-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a process that is killed while steps of calls share a commit', () => {
  const points = ['store.before_commit', 'store.after_commit'];
  test.each(points.flatMap((point) => [1, 2, 3, 6].map((count) => [point, count] as const)))(
    'at %s, time %i, gave no answer and changed nothing without a record',
    async (point, count) => {
      const { stdout, stderr, signal } = spawnSync(process.execPath, [program, folder, `${point}:${count}`], {
        encoding: 'utf8',
        timeout: 60_000,
      });
      expect([signal, stderr]).toEqual(['SIGKILL', '']);
      const opened = await openSqliteStore(folder);
      if (!opened.ok) throw new Error(opened.error.message);
      const { store } = opened.value;
      try {
        expect(stdout).not.toContain('failed');
        for (const [, id = ''] of stdout.matchAll(/^answered (\S+)$/gm)) {
          expect((await store.call(id))?.state, `answered ${id}`).toBe('succeeded');
        }
        for (const id of changed()) expect((await store.call(id))?.startedAt, `changed by ${id}`).toBeTypeOf('number');

        await store.recover();
        const { items } = await store.calls({});
        for (const { tool, state, attempt } of items) {
          const mayBe = tool === 'change' && attempt === 1 ? ['succeeded', 'interrupted'] : ['succeeded', 'queued'];
          expect(mayBe, `${tool} in attempt ${attempt}`).toContain(state);
        }
        expect((await store.verify()).problems).toEqual([]);
      } finally {
        await store.close();
      }
    },
  );
});

function changed(): string[] {
  const path = join(folder, 'effects.log');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}
