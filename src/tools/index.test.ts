import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { builtInTools } from './index.ts';

test('docs/tools.md lists the tools that a model may call, and none that only the runtime calls', () => {
  const page = readFileSync(new URL('../../docs/tools.md', import.meta.url), 'utf8');
  const callable = builtInTools.filter(({ madeBy }) => madeBy === undefined).map(({ name }) => name);
  expect([...page.matchAll(/^## (.+)$/gm)].map(([, name]) => name)).toEqual(callable);
});
