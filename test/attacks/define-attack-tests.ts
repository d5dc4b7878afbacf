import { expect, test } from 'vitest';
import { type Attack, readCatalogue } from './attack.ts';
import { runAttacks } from './harness.ts';
import { runners } from './runners/runners.ts';

export const catalogue = readCatalogue(new URL('catalogue.jsonl', import.meta.url).pathname);

/** Defines one test for each selected case. A case that is pending or unchecked fails as well. */
export function defineAttackTests(isSelected: (attack: Attack) => boolean): void {
  const selected = catalogue.filter(isSelected).map((attack) => [attack.id, attack.class, attack] as const);
  test.each(selected)(
    '%s (%s) is held off',
    async (id, _class, attack) => {
      const { cases } = await runAttacks([attack], runners);
      expect(cases).toMatchObject([{ id, passed: true, reason: '' }]);
    },
    180_000,
  );
}
