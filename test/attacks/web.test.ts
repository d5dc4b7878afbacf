import { describe, expect, test } from 'vitest';
import { readCatalogue } from './attack.ts';
import { runAttacks } from './harness.ts';
import { runners } from './runners.ts';

const catalogue = readCatalogue(new URL('catalogue.jsonl', import.meta.url).pathname);

describe('attacks by the web tools', () => {
  test.each(catalogue.filter(({ mode }) => mode === 'netstub').map((attack) => [attack.id, attack] as const))(
    '%s is held off',
    async (id, attack) => {
      const { cases } = await runAttacks([attack], runners);
      expect(cases).toMatchObject([{ id, passed: true, reason: '' }]);
    },
    60_000,
  );
});
