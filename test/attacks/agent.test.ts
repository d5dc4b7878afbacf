import { expect, test } from 'vitest';
import { readCatalogue } from './attack.ts';
import { runAttacks } from './harness.ts';
import { runners } from './runners.ts';

const own = new URL('./catalogue.jsonl', import.meta.url).pathname;
const cases = readCatalogue(own).filter(({ category, tool }) => category === '7-agent' && tool === 'agent');

test.each(cases.map((one) => [one.id, one.class, one] as const))(
  '%s %s is held',
  { timeout: 60_000 },
  async (_, __, one) => {
    const { failed, unchecked, cases: reports } = await runAttacks([one], runners);
    expect({ failed, unchecked, reports }).toMatchObject({ failed: 0, unchecked: 0 });
  },
);
