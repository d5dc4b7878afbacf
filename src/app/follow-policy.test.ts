import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Ledger } from '../kernel/ledger.ts';
import { type App, openApp } from './open-app.ts';
import { saveRule } from './rules.ts';

let home: string;
let app: App;
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'follow-'));
  const workspace = mkdtempSync(join(home, 'project-'));
  const opened = await openApp({ workspace, home, env: { PATH: '/usr/local/bin:/usr/bin:/bin' } });
  if (!opened.ok) throw new Error(opened.error.message);
  app = opened.value;
});
afterEach(async () => {
  await app.close();
  rmSync(home, { recursive: true, force: true });
});

async function verdict(): Promise<string> {
  const reviewed = await app.executor.review('bash', app.context, { command: 'ls' });
  return reviewed.ok ? reviewed.value.verdict.verdict : reviewed.error.message;
}

/** The next reading of the rules goes as it says. */
function nextRules(store: Ledger, read: (rules: Ledger['rules']) => ReturnType<Ledger['rules']>): void {
  const { rules } = store;
  store.rules = () => {
    store.rules = rules;
    return read(rules);
  };
}

test('rules that cannot be read now are read soon after', async () => {
  nextRules(app.store, () => Promise.reject(new Error('the disk is busy')));
  await saveRule(app, { rule: 'bash(ls)', verdict: 'deny' }, 'ana');
  await expect.poll(verdict, { timeout: 20_000 }).toBe('deny');
});

test('a slow reading of the rules does not undo a later one', async () => {
  let late = () => {};
  nextRules(app.store, async (rules) => {
    const before = await rules();
    await new Promise<void>((resolve) => {
      late = resolve;
    });
    return before;
  });
  const slow = app.rules.reload();
  await saveRule(app, { rule: 'bash(ls)', verdict: 'deny' }, 'ana');
  const quick = app.rules.reload();
  await new Promise(setImmediate);
  late();
  await Promise.all([slow, quick]);
  expect(await verdict()).toBe('deny');
});
