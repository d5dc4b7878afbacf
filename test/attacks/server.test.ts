import { describe, expect, test } from 'vitest';
import { readCatalogue } from './attack.ts';
import { runAttacks } from './harness.ts';
import { runners } from './runners.ts';

const catalogue = readCatalogue(new URL('catalogue.jsonl', import.meta.url).pathname);
const met = catalogue.filter(
  ({ category, mode, tool }) =>
    ['4-server', '4-approval'].includes(category) && `${mode}:${tool}` !== 'ui:ui' && mode !== 'policy',
);

describe('the attacks that the server meets', () => {
  test.each(met.map((attack) => [attack.id, attack] as const))(
    '%s is held off',
    async (id, attack) => {
      const { cases } = await runAttacks([attack], runners);
      expect(cases).toMatchObject([{ id, passed: true }]);
    },
    180_000,
  );
});
