import { afterAll, expect, test } from 'vitest';
import { closeBrowser } from '../app/browser.ts';
import { readCatalogue } from './attack.ts';
import { runAttacks } from './harness.ts';
import { runners } from './runners.ts';

const catalogue = readCatalogue(new URL('catalogue.jsonl', import.meta.url).pathname);
const cases = catalogue.filter(({ mode, tool }) => mode === 'ui' && tool === 'ui');

afterAll(closeBrowser);

test.each(cases.map((attack) => [attack.id, attack.class, attack] as const))(
  '%s (%s) is held off',
  async (id, _class, attack) => {
    const report = await runAttacks([attack], runners);
    expect(report.cases).toMatchObject([{ id, passed: true }]);
  },
  120_000,
);
