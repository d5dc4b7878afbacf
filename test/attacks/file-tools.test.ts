import { describe, expect, test } from 'vitest';
import { readCatalogue } from './attack.ts';
import { FILE_TOOLS } from './file-tools-runner.ts';
import { runAttacks } from './harness.ts';
import { runners } from './runners.ts';

const catalogue = readCatalogue(new URL('catalogue.jsonl', import.meta.url).pathname);
const isRoot = process.getuid?.() === 0;
/** Only root may mount the small file system that some cases begin with; an ordinary user meets all the others. */
const canBeSetUp = (setup: readonly string[]): boolean => isRoot || !setup.some((line) => /\bmount -t\b/.test(line));
const met = catalogue.filter(
  ({ category, tool, setup }) =>
    ['1-path', '2-secrets', '6-data'].includes(category) && FILE_TOOLS.includes(tool) && canBeSetUp(setup),
);

describe('the attacks that file tools meet', () => {
  test.each(met.map((attack) => [attack.id, attack] as const))(
    '%s is held off',
    async (id, attack) => {
      const { cases } = await runAttacks([attack], runners);
      expect(cases).toMatchObject([{ id, passed: true }]);
    },
    180_000,
  );
});
