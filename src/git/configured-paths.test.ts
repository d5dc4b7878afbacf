import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { ProtectedPath } from '../kernel/world/protected-path.ts';
import { findConfiguredPaths } from './configured-paths.ts';

const root = realpathSync(mkdtempSync(join(tmpdir(), 'configured-paths-')));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const CONFIG: ProtectedPath = { path: '.git/config', kind: 'file', access: 'read-only', rule: null };

test.each([
  { count: 100, unlooked: [] },
  { count: 101, unlooked: ['.git/config'] },
])(
  'of $count folders of hooks that git is sent to, those are found that are looked for',
  async ({ count, unlooked }) => {
    const folder = join(root, `named-${count}`);
    for (const name of ['.git', 'h99']) mkdirSync(join(folder, name), { recursive: true });
    const hooks = Array.from({ length: count }, (_, i) => `hooksPath=h${i}\n`).join('');
    writeFileSync(join(folder, '.git/config'), `[core]\n${hooks}`);
    const found = await findConfiguredPaths(folder, [CONFIG], root);
    expect(found.filter(({ because }) => because === 'failed').map(({ path }) => path)).toEqual(unlooked);
    expect(found.map(({ path }) => path)).toContain('h99');
  },
);
